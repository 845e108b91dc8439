"""DefaultPreemption: makes room for a pod by evicting less important ones, as few and as unimportant as possible.

On every node that refused the pod for want of room, all less important pods are taken off on trial; if the pod then fits, as
many of them as possible are put back, those whose disruption budget is spent first. Of the nodes, the one is taken that breaks
the fewest budgets, then whose most important victim is the least important, then by the sum of priorities, the number of
victims, and the latest start of the most important ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from setpoint.api.types.core_v1 import Pod
from setpoint.api.types.policy_v1 import PODDISRUPTIONBUDGETS
from setpoint.scheduler.framework import NO_NODE, CycleState, Handle, Victims
from setpoint.scheduler.plugin_config import DefaultPreemptionArgs
from setpoint.scheduler.pod_terms import selector_of
from setpoint.scheduler.pods import PodInfo, priority
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import Code, Diagnosis, FitError, Status, unresolvable, unschedulable

NOT_HELPFUL = unresolvable("Preemption is not helpful for scheduling")
NO_VICTIMS = unresolvable("No preemption victims found for incoming pod")
NEVER = "not eligible due to preemptionPolicy=Never."
TERMINATING = "not eligible due to a terminating pod on the nominated node."
TRIAL_COST = 10  # of the work of asking a node
_PRIORITY_OFFSET = 2**31


class _Candidate(Struct, frozen=True):
    node: str
    victims: Sequence[PodInfo]
    cost: tuple[Any, ...]


class _Remembered(Struct, frozen=True):
    """The outcome of a trial; it holds for pods of the same shape and priority while node and budgets stay as they are."""

    budgets: Sequence[Any]
    outcome: _Candidate | Status


DEFAULT_ARGS = DefaultPreemptionArgs()


class DefaultPreemption:
    """See the module."""

    name = "DefaultPreemption"

    def __init__(self, handle: Handle, args: DefaultPreemptionArgs = DEFAULT_ARGS) -> None:
        self._handle = handle
        self._args = args
        self._budgets = handle.listers.of(PODDISRUPTIONBUDGETS)
        self._offset = 0
        self._seen: Sequence[Any] = ()
        self._selectors: Sequence[Any] = ()

    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> tuple[Victims | None, Status | None]:
        reason = self._ineligible(state, pod, diagnosis)
        if reason:
            return None, unschedulable(f"preemption: {reason}")
        candidates, statuses = self._candidates(state, pod, diagnosis)
        if not candidates:
            total = len(self._handle.snapshot.nodes)
            error = FitError(total, Diagnosis(nodes=statuses, absent=NOT_HELPFUL))
            return NO_NODE, unschedulable(f"preemption: {error}")
        best = min(candidates, key=lambda candidate: candidate.cost)
        return Victims(best.node, [victim.pod for victim in best.victims]), None

    def _ineligible(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> str:
        """Why this pod may not push others aside, "" if it may."""
        if pod.spec.preemption_policy == "Never":
            return NEVER
        nominated = pod.status.nominated_node_name or self._handle.nominator.node_of(state.info.key)
        node = self._handle.snapshot.get(nominated) if nominated else None
        if node is None:
            return ""
        status = diagnosis.status_of(nominated)
        if status is not None and status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return ""
        makes_room = any(priority(info.pod) < priority(pod) and _is_preempted(info.pod) for info in node.pods.values())
        return TERMINATING if makes_room else ""

    def _candidates(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> tuple[list[_Candidate], dict[str, Status]]:
        self._look_at_budgets()
        nodes = self._handle.snapshot.nodes
        potential = [node for node in nodes if _might_help(diagnosis.status_of(node.name))]
        if not state.budget.again:
            self._offset = self._handle.rng.randrange(len(potential)) if potential else 0
        offset = min(self._offset, len(potential))
        part = len(potential) * self._args.min_candidate_nodes_percentage // 100
        enough = max(self._args.min_candidate_nodes_absolute, part)
        candidates: list[_Candidate] = []
        statuses: dict[str, Status] = {}
        alone, own = self._handle.profile.judges_nodes_alone(state), self._handle.nominator.node_of(state.info.key)
        for node in [*potential[offset:], *potential[:offset]]:
            if alone and node.name != own:
                found = self._try_or_remember(state, pod, node)
            else:
                found = self._try_node(state, pod, node.clone())
            if isinstance(found, Status):
                statuses[node.name] = found
                continue
            candidates.append(found)
            if len(candidates) >= enough:
                break
        return candidates, statuses

    def _try_or_remember(self, state: CycleState, pod: Pod, node: NodeInfo) -> _Candidate | Status:
        notes, key = state.board.notes_on(node.slot), ("preemption", priority(pod))
        known: _Remembered | None = notes.get(key)
        if known is not None and known.budgets is self._seen:
            return known.outcome
        state.budget.spend(TRIAL_COST)
        outcome = self._try_node(state, pod, node.clone())
        notes[key] = _Remembered(self._seen, outcome)
        return outcome

    def _try_node(self, state: CycleState, pod: Pod, node: NodeInfo) -> _Candidate | Status:
        """`node` is a clone; see the module."""
        mine, profile = priority(pod), self._handle.profile
        lesser = [info for info in node.pods.values() if priority(info.pod) < mine]
        if not lesser:
            return NO_VICTIMS
        trial = state.clone()
        for info in lesser:
            profile.remove_pod(trial, pod, info, node)
        for promised in self._handle.nominator.ahead_of(pod, state.info.key, node.name):
            profile.add_pod(trial, pod, promised, node)
        refuse = profile.filters(trial)
        status = refuse(pod, node)
        if status is not None:
            return status
        lesser = _by_importance(lesser)
        protected, free = self._split_by_budget(lesser)
        victims: list[PodInfo] = []
        broken = 0
        for info in [*protected, *free]:
            profile.add_pod(trial, pod, info, node)
            if refuse(pod, node) is None:
                continue
            profile.remove_pod(trial, pod, info, node)
            victims.append(info)
            broken += info in protected
        if protected and free:
            victims = _by_importance(victims)
        return _Candidate(node.name, victims, _cost(victims, broken))

    def _look_at_budgets(self) -> None:
        budgets = self._budgets.list()
        if budgets != self._seen:
            self._seen = budgets
            self._selectors = [selector_of(budget.spec.selector) for budget in budgets]

    def _split_by_budget(self, pods: Sequence[PodInfo]) -> tuple[list[PodInfo], list[PodInfo]]:
        """Those whose eviction would break a disruption budget, and the others; the given order is kept."""
        if not self._seen:
            return [], [*pods]
        allowed = [budget.status.disruptions_allowed for budget in self._seen]
        protected: list[PodInfo] = []
        free: list[PodInfo] = []
        for info in pods:
            meta = info.pod.metadata
            broken = False
            for index, (budget, selector) in enumerate(zip(self._seen, self._selectors, strict=True) if meta.labels else ()):
                if budget.metadata.namespace != meta.namespace or selector.everything or not selector.matches(meta.labels):
                    continue
                if meta.name in budget.status.disrupted_pods:
                    continue
                allowed[index] -= 1
                broken = broken or allowed[index] < 0
            (protected if broken else free).append(info)
        return protected, free


def _might_help(status: Status | None) -> bool:
    return status is not None and status.code is Code.UNSCHEDULABLE


def _is_preempted(pod: Pod) -> bool:
    """It is leaving because a scheduler evicted it."""
    if pod.metadata.deletion_timestamp is None:
        return False
    return any(
        condition.type == "DisruptionTarget" and condition.status == "True" and condition.reason == "PreemptionByScheduler"
        for condition in pod.status.conditions
    )


def _started(pod: Pod) -> str:
    # RFC 3339 in UTC sorts as text; a pod that has not started counts as just started.
    return pod.status.start_time or "9999"


def _by_importance(infos: Sequence[PodInfo]) -> list[PodInfo]:
    """The more important first: higher priority, then longer running.

    Of those that have not started the newcomers come first: Kubernetes asks when they start, and each time it is a little later.
    """
    newest_first = sorted(enumerate(infos), key=lambda each: (-priority(each[1].pod), _started(each[1].pod), _turn(*each)))
    return [info for _, info in newest_first]


def _turn(index: int, info: PodInfo) -> int:
    return index if info.pod.status.start_time else -index


def _cost(infos: Sequence[PodInfo], broken_budgets: int) -> tuple[Any, ...]:
    """Smaller is better: see the module."""
    victims = [info.pod for info in infos]
    highest = max((priority(pod) for pod in victims), default=-_PRIORITY_OFFSET)
    total = sum(priority(pod) + _PRIORITY_OFFSET for pod in victims)
    earliest = min((_started(pod) for pod in victims if priority(pod) == highest), default="")
    # The latest start is the cheapest: turn the text's order round.
    return broken_budgets, highest, total, len(victims), tuple(-ord(letter) for letter in earliest)
