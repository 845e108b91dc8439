"""DefaultPreemption: makes room for a pod by evicting less important ones, as few and as unimportant as possible.

On every node that refused the pod for want of room, all less important pods are taken off on trial; if the pod then fits, as
many of them as possible are put back, those whose disruption budget is spent first. Of the nodes, the one is taken that breaks
the fewest budgets, then whose most important victim is the least important, then by the sum of priorities, the number of
victims, and the latest start of the most important ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from setpoint.api.machinery.selectors import from_object
from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.framework import CycleState, Handle, Victims
from setpoint.scheduler.nominator import priority
from setpoint.scheduler.snapshot import NodeInfo, PodInfo
from setpoint.scheduler.status import Code, Diagnosis, FitError, Status, unresolvable, unschedulable

NOT_HELPFUL = unresolvable("Preemption is not helpful for scheduling")
NO_VICTIMS = unresolvable("No preemption victims found for incoming pod")
NEVER = "not eligible due to preemptionPolicy=Never."
TERMINATING = "not eligible due to a terminating pod on the nominated node."
CANDIDATES = 100  # nodes tried at least; beyond that a tenth of all
_PRIORITY_OFFSET = 2**31


class _Candidate(Struct, frozen=True):
    node: str
    victims: Sequence[PodInfo]
    broken_budgets: int


class DefaultPreemption:
    """See the module."""

    name = "DefaultPreemption"

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> tuple[Victims | None, Status | None]:
        reason = self._ineligible(state, pod, diagnosis)
        if reason:
            return None, unschedulable(f"preemption: {reason}")
        candidates, statuses = self._candidates(state, pod, diagnosis)
        if not candidates:
            total = len(self._handle.snapshot.nodes)
            error = FitError(total, Diagnosis(nodes=statuses, absent=NOT_HELPFUL))
            return None, unschedulable(f"preemption: {error}")
        best = min(candidates, key=_cost)
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
        nodes = self._handle.snapshot.nodes
        potential = [node for node in nodes if _might_help(diagnosis.status_of(node.name))]
        offset = self._handle.rng.randrange(len(potential)) if potential else 0
        enough = max(CANDIDATES, len(potential) // 10)
        candidates: list[_Candidate] = []
        statuses: dict[str, Status] = {}
        for node in [*potential[offset:], *potential[:offset]]:
            found = self._try_node(state, pod, node.clone())
            if isinstance(found, Status):
                statuses[node.name] = found
                continue
            candidates.append(found)
            if len(candidates) >= enough:
                break
        return candidates, statuses

    def _try_node(self, state: CycleState, pod: Pod, node: NodeInfo) -> _Candidate | Status:
        """`node` is a clone; see the module."""
        mine = priority(pod)
        lesser = [info for info in node.pods.values() if priority(info.pod) < mine]
        if not lesser:
            return NO_VICTIMS
        for info in lesser:
            node.remove_pod(info.key)
        for promised in self._handle.nominator.ahead_of(pod, state.info.key, node.name):
            node.add_pod(promised)
        refuse = self._handle.profile.filters(state)
        status = refuse(pod, node)
        if status is not None:
            return status
        lesser.sort(key=_importance)
        protected, free = self._split_by_budget(lesser)
        victims: list[PodInfo] = []
        broken = 0
        for info in [*protected, *free]:
            node.add_pod(info)
            if refuse(pod, node) is None:
                continue
            node.remove_pod(info.key)
            victims.append(info)
            broken += info in protected
        return _Candidate(node.name, sorted(victims, key=_importance), broken)

    def _split_by_budget(self, pods: Sequence[PodInfo]) -> tuple[list[PodInfo], list[PodInfo]]:
        """Those whose eviction would break a disruption budget, and the others; the given order is kept."""
        budgets = [(budget, _selector(budget)) for budget in self._handle.budgets.list()]
        allowed = [budget.status.disruptions_allowed for budget, _ in budgets]
        protected: list[PodInfo] = []
        free: list[PodInfo] = []
        for info in pods:
            meta = info.pod.metadata
            broken = False
            for index, (budget, selector) in enumerate(budgets):
                if budget.metadata.namespace != meta.namespace or selector is None or not selector.matches(meta.labels):
                    continue
                if meta.name in budget.status.disrupted_pods:
                    continue
                allowed[index] -= 1
                broken = broken or allowed[index] < 0
            (protected if broken else free).append(info)
        return protected, free


def _selector(budget: Any) -> Any:
    """A budget's selector; None for one that selects nothing here (absent or empty)."""
    if budget.spec.selector is None:
        return None
    selector = from_object(msgspec.to_builtins(budget.spec.selector))
    return None if selector.everything else selector


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


def _importance(info: PodInfo) -> tuple[int, str]:
    """Sorts the more important first: higher priority, then longer running."""
    return -priority(info.pod), _started(info.pod)


def _cost(candidate: _Candidate) -> tuple[Any, ...]:
    victims = [info.pod for info in candidate.victims]
    highest = max((priority(pod) for pod in victims), default=-_PRIORITY_OFFSET)
    total = sum(priority(pod) + _PRIORITY_OFFSET for pod in victims)
    earliest = min((_started(pod) for pod in victims if priority(pod) == highest), default="")
    # The latest start is the cheapest: turn the text's order round.
    return candidate.broken_budgets, highest, total, len(victims), tuple(-ord(letter) for letter in earliest)
