"""One scheduling cycle: from a pod to the node it shall run on, without waiting for anything.

Source: `schedulePod` of kube-scheduler. Filter until enough nodes are found, rate them, take the best; of equals one by lot.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from msgspec import Struct

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.framework import CycleState, Victims
from setpoint.scheduler.nominator import Nominator
from setpoint.scheduler.profile import Profile
from setpoint.scheduler.queue import NO_NODES_PLUGIN
from setpoint.scheduler.snapshot import NodeInfo, PodInfo, Snapshot
from setpoint.scheduler.status import Code, Diagnosis, FitError, Status, unresolvable

Refuse = Callable[[Pod, NodeInfo], Status | None]


class CycleError(Exception):
    """A plugin broke: the pod is tried again later."""


class NoFit(FitError):
    """No node fits; `victims` have to go for the pod to run on their node, if that was found to help."""

    def __init__(self, total: int, diagnosis: Diagnosis, victims: Victims | None = None) -> None:
        super().__init__(total, diagnosis)
        self.victims = victims


class Placement(Struct, frozen=True):
    """Where the pod goes, and the state for the binding cycle."""

    node: str
    state: CycleState


def nodes_to_find(total: int) -> int:
    """How many feasible nodes are enough: all of up to 100; of more 50 %, less 1 % per 125 nodes, but 5 % or 100 at least."""
    if total < 100:
        return total
    percentage = max(5, 50 - total // 125)
    return max(100, total * percentage // 100)


class Cycle:
    """Schedules pods, one after the other."""

    def __init__(self, profile: Profile, snapshot: Snapshot, nominator: Nominator, rng: random.Random) -> None:
        self._profile = profile
        self._snapshot = snapshot
        self._nominator = nominator
        self._rng = rng
        self._next = 0

    def run(self, info: PodInfo) -> Placement:
        """Find a node. Raises NoFit, after PostFilter has been asked, or CycleError."""
        state = CycleState(info)
        nodes = self._snapshot.nodes
        if not nodes:
            raise NoFit(0, Diagnosis(plugins={NO_NODES_PLUGIN}))
        diagnosis = Diagnosis()
        feasible = self._feasible(state, info.pod, nodes, diagnosis)
        if not feasible:
            raise self._no_fit(state, info.pod, len(nodes), diagnosis)
        return Placement(self._best(state, info.pod, feasible), state)

    def _no_fit(self, state: CycleState, pod: Pod, total: int, diagnosis: Diagnosis) -> NoFit:
        victims, status = self._profile.post_filter(state, pod, diagnosis)
        if status is not None:
            diagnosis.post_filter_message = status.message
        return NoFit(total, diagnosis, victims)

    # ---- filtering

    def _feasible(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], diagnosis: Diagnosis) -> list[NodeInfo]:
        names, narrowed, refusal = self._profile.pre_filter(state, pod)
        if refusal is not None:
            if refusal.code is Code.ERROR:
                raise CycleError(f'running PreFilter plugin "{refusal.plugin}": {refusal.message}')
            diagnosis.absent = refusal
            diagnosis.pre_filter_message = refusal.message
            diagnosis.blame(refusal)
            return []
        refuse = self._profile.remembering_filters(state)
        promised = self._promised_node(pod, state, refuse)
        if promised is not None:
            return [promised]
        if names is not None:
            nodes = [node for node in nodes if node.name in names]
            diagnosis.absent = unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(narrowed))}]")
            diagnosis.plugins |= narrowed
        return self._search(pod, state, nodes, refuse, diagnosis)

    def _promised_node(self, pod: Pod, state: CycleState, refuse: Refuse) -> NodeInfo | None:
        """The node that was cleared for this pod, if it fits there now."""
        name = pod.status.nominated_node_name or self._nominator.node_of(state.info.key)
        node = self._snapshot.get(name) if name else None
        return node if node is not None and self._check(pod, state, node, refuse) is None else None

    def _search(
        self, pod: Pod, state: CycleState, nodes: Sequence[NodeInfo], refuse: Refuse, diagnosis: Diagnosis
    ) -> list[NodeInfo]:
        """Go round the nodes from where the last search ended, so that all get their turn."""
        enough = nodes_to_find(len(nodes))
        feasible: list[NodeInfo] = []
        start = self._next % len(nodes) if nodes else 0
        looked_at = 0
        crowded = bool(len(self._nominator))
        for node in (*nodes[start:], *nodes[:start]):
            looked_at += 1
            status = self._check(pod, state, node, refuse) if crowded else refuse(pod, node)
            if status is not None:
                if status.code is Code.ERROR:
                    raise CycleError(f'running "{status.plugin}" filter plugin: {status.message}')
                diagnosis.refuse(node.name, status)
                continue
            feasible.append(node)
            if len(feasible) >= enough:
                break
        if nodes:
            self._next = (start + looked_at) % len(nodes)
        return feasible

    def _check(self, pod: Pod, state: CycleState, node: NodeInfo, refuse: Refuse) -> Status | None:
        """Refused with those counted whom the node is promised to, or without: they may come, or may not."""
        ahead = self._nominator.ahead_of(pod, state.info.key, node.name)
        if ahead:
            crowded = node.clone()
            for info in ahead:
                if info.key not in crowded.pods:
                    crowded.add_pod(info)
            status = self._profile.filters(state)(pod, crowded)
            if status is not None:
                return status
        return refuse(pod, node)

    # ---- choosing

    def _best(self, state: CycleState, pod: Pod, feasible: Sequence[NodeInfo]) -> str:
        if len(feasible) == 1:
            return feasible[0].name
        scores = self._profile.score(state, pod, feasible)
        if isinstance(scores, Status):
            raise CycleError(f'running PreScore plugin "{scores.plugin}": {scores.message}')
        highest = max(scores)
        equals = [node.name for node, score in zip(feasible, scores, strict=True) if score == highest]
        return equals[0] if len(equals) == 1 else self._rng.choice(equals)
