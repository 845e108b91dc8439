"""One scheduling cycle: from a pod to the node it shall run on, without waiting for anything.

Source: `schedulePod` of kube-scheduler. Filter until enough nodes are found, rate them, take the best; of equals one by lot.
What nodes have to be asked for the first time is done in slices: `run` raises Unfinished, and is called again with what was
found out kept.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from msgspec import Struct

from setpoint.scheduler.board import Board, Budget
from setpoint.scheduler.candidates import Candidates
from setpoint.scheduler.framework import NO_NODE, CycleState, Victims
from setpoint.scheduler.nominator import Nominator
from setpoint.scheduler.pods import PodInfo, priority
from setpoint.scheduler.profile import Profile
from setpoint.scheduler.queue import NO_NODES_PLUGIN
from setpoint.scheduler.snapshot import NodeInfo, Snapshot
from setpoint.scheduler.status import Code, Diagnosis, FitError, Status, unresolvable

MOST_SLICES = 50  # then the cycle is run in one go, however long it takes: nodes that change faster than they are asked


class CycleError(Exception):
    """A plugin broke: the pod is tried again later."""


class NoFit(FitError):
    """No node fits; `victims` have to go for the pod to run on their node, if that was found to help.

    `nominated` is that node; "" takes back what was promised to the pod before, None leaves that as it is.
    """

    def __init__(self, total: int, diagnosis: Diagnosis, victims: Victims | None) -> None:
        super().__init__(total, diagnosis)
        self.victims = victims if victims is not None and victims.node else None
        self.nominated = victims.node if victims is not None else None


class Placement(Struct, frozen=True):
    """Where the pod goes, and the state for the binding cycle."""

    node: str
    state: CycleState


class Found(Struct):
    """The nodes that fit, before one is chosen."""

    state: CycleState
    board: Board
    nodes: list[NodeInfo]
    diagnosis: Diagnosis


def nodes_to_find(total: int, percentage: int = 0) -> int:
    """How many feasible nodes are enough: all of up to 100; of more 50 %, less 1 % per 125 nodes, but 5 % or 100 at least.

    A `percentage` of the configuration stands in for the computed one; 100 asks for all.
    """
    if total < 100 or percentage >= 100:
        return total
    chosen = percentage or max(5, 50 - total // 125)
    return max(100, total * chosen // 100)


class Cycle:
    """Schedules pods, one after the other."""

    def __init__(self, profile: Profile, snapshot: Snapshot, nominator: Nominator, rng: random.Random) -> None:
        self._profile = profile
        self._snapshot = snapshot
        self._nominator = nominator
        self._rng = rng
        self._next = 0

    def run(self, info: PodInfo, budget: Budget | None = None) -> Placement:
        """Find a node. Raises NoFit, after PostFilter has been asked, CycleError, or Unfinished when the budget is spent."""
        found = self.find(info, budget or Budget(1 << 60))
        if not found.nodes:
            raise self.no_fit(found)
        return self.choose(found)

    def find(self, info: PodInfo, budget: Budget) -> Found:
        """The nodes that fit, enough of them."""
        state = CycleState(info)
        state.budget = budget
        nodes = self._snapshot.nodes
        if not nodes:
            raise NoFit(0, Diagnosis(plugins={NO_NODES_PLUGIN}), NO_NODE)
        diagnosis = Diagnosis()
        board = state.board = self._profile.board(state)
        return Found(state, board, self._feasible(state, nodes, board, diagnosis), diagnosis)

    def no_fit(self, found: Found) -> NoFit:
        """Ask PostFilter."""
        if not self._profile.has_post_filters:
            return NoFit(len(self._snapshot.nodes), found.diagnosis, NO_NODE)
        victims, status = self._profile.post_filter(found.state, found.state.info.pod, found.diagnosis)
        if status is not None:
            found.diagnosis.post_filter_message = status.message
        return NoFit(len(self._snapshot.nodes), found.diagnosis, victims)

    # ---- filtering

    def _feasible(self, state: CycleState, nodes: Sequence[NodeInfo], board: Board, diagnosis: Diagnosis) -> list[NodeInfo]:
        pod = state.info.pod
        names, narrowed, refusal = self._profile.pre_filter(state, pod)
        diagnosis.plugins |= narrowed
        if refusal is not None:
            if not refusal.rejected:
                raise CycleError(f'running PreFilter plugin "{refusal.plugin}": {refusal.message}')
            diagnosis.absent = refusal
            diagnosis.pre_filter_message = refusal.message
            diagnosis.blame(refusal)
            return []
        promised = self._promised_node(state)
        if promised is not None:
            return [promised]
        if names is not None:
            nodes = [node for node in nodes if node.name in names]
            diagnosis.absent = unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(narrowed))}]")
        return self._search(state, nodes, board, diagnosis)

    def _promised_node(self, state: CycleState) -> NodeInfo | None:
        """The node that was cleared for this pod, if it fits there now."""
        name = state.info.pod.status.nominated_node_name or self._nominator.node_of(state.info.key)
        node = self._snapshot.get(name) if name else None
        return node if node is not None and self._check(state, node) is None else None

    def _search(self, state: CycleState, nodes: Sequence[NodeInfo], board: Board, diagnosis: Diagnosis) -> list[NodeInfo]:
        """Go round the nodes from where the last search ended, so that all get their turn."""
        total = len(nodes)
        enough = nodes_to_find(total, self._profile.config.percentage_of_nodes_to_score)
        start = self._next % total if total else 0
        feasible = Candidates()
        refused: list[tuple[str, Status]] = []
        looked_at = 0
        while looked_at < total and len(feasible) < enough:
            window = _window(nodes, start + looked_at, min(enough, total - looked_at))
            refusals = self._refusals(state, board, window)
            looked_at += _take(window, refusals, enough, feasible, refused)
        self._next = (start + looked_at) % total if total else 0
        for _, status in refused:
            if status.code is Code.ERROR:
                raise CycleError(f'running "{status.plugin}" filter plugin: {status.message}')
        diagnosis.others = refused
        if not feasible:
            diagnosis.refuse_others()
        return feasible

    def _refusals(self, state: CycleState, board: Board, window: Candidates) -> list[Status | None]:
        refusals = self._profile.refusals(state, board, window)
        if len(self._nominator):
            alone = self._profile.judges_nodes_alone(state)
            for index, node in enumerate(window):
                if refusals[index] is None and self._nominator.any_on(node.name):
                    refusals[index] = self._crowd(state, node, remember=alone)
        return refusals

    def _check(self, state: CycleState, node: NodeInfo) -> Status | None:
        return self._crowd(state, node) or self._profile.filters(state)(state.info.pod, node)

    def _crowd(self, state: CycleState, node: NodeInfo, *, remember: bool = False) -> Status | None:
        """Refused with those counted whom the node is promised to: they may come. It has to fit without them, too."""
        pod = state.info.pod
        if remember and self._nominator.node_of(state.info.key) != node.name:
            notes, key = state.board.notes_on(node.slot), ("crowd", priority(pod))
            if key not in notes:
                notes[key] = self._crowd(state, node)
            known: Status | None = notes[key]
            return known
        ahead = self._nominator.ahead_of(pod, state.info.key, node.name)
        if not ahead:
            return None
        crowded, trial = node.clone(), state.clone()
        for info in ahead:
            if info.key not in crowded.pods:
                self._profile.add_pod(trial, pod, info, crowded)
        return self._profile.filters(trial)(pod, crowded)

    # ---- choosing

    def choose(self, found: Found, extra: Sequence[int] | None = None) -> Placement:
        """The best of the nodes; `extra` adds to their scores."""
        feasible = found.nodes
        if len(feasible) == 1:
            return Placement(feasible[0].name, found.state)
        scores = self._profile.score(found.state, found.state.info.pod, feasible, found.board)
        if isinstance(scores, Status):
            raise CycleError(f'running PreScore plugin "{scores.plugin}": {scores.message}')
        if extra is not None:
            scores = [score + more for score, more in zip(scores, extra, strict=True)]
        highest = max(scores)
        index = scores.index(highest)
        for _ in range(self._rng.randrange(scores.count(highest))):
            index = scores.index(highest, index + 1)
        return Placement(feasible[index].name, found.state)


def _window(nodes: Sequence[NodeInfo], start: int, count: int) -> Candidates:
    """So many nodes from `start` on, round the end."""
    start %= len(nodes)
    return Candidates([*nodes[start : start + count], *nodes[: max(0, start + count - len(nodes))]])


def _take(
    window: Candidates,
    refusals: Sequence[Status | None],
    enough: int,
    feasible: Candidates,
    refused: list[tuple[str, Status]],
) -> int:
    """Sort the nodes of a window into those that fit and the others, until there are enough. How many were looked at."""
    if not feasible and not any(refusals):
        feasible += window
        return len(window)
    for index, status in enumerate(refusals):
        if status is not None:
            refused.append((window[index].name, status))
            continue
        feasible.append(window[index])
        if len(feasible) >= enough:
            return index + 1
    return len(window)
