"""PodTopologySpread: the pods that a constraint selects are spread evenly over the domains of its topology key.

A hard constraint (DoNotSchedule) refuses a node whose domain would then hold more than `maxSkew` above the emptiest domain;
with fewer domains than `minDomains` the emptiest counts as empty. Soft ones (ScheduleAnyway) weigh. Pods without constraints of
their own are spread softly over nodes and zones with the pods of their Service, ReplicaSet, StatefulSet or
ReplicationController.
Source: `plugins/podtopologyspread` of kube-scheduler.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct, field

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.domains import CountKeeper, DomainCounts
from setpoint.scheduler.events import Action, ClusterEvent, Interest, What
from setpoint.scheduler.framework import MAX_SCORE, CycleState, Handle, PreFilterResult
from setpoint.scheduler.plugin_config import PodTopologySpreadArgs
from setpoint.scheduler.plugins.spread_constraints import (
    HOSTNAME,
    Constraint,
    Defaults,
    accepts,
    constraints_of,
    has_all_keys,
)
from setpoint.scheduler.pods import PodInfo
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import SKIP, Status, unresolvable, unschedulable

NO_LABEL = unresolvable("node(s) didn't match pod topology spread constraints (missing required label)")
UNEVEN = unschedulable("node(s) didn't match pod topology spread constraints")
DO_NOT_SCHEDULE, SCHEDULE_ANYWAY = "DoNotSchedule", "ScheduleAnyway"


class _Hard(Struct):
    """A hard constraint, the counts it looks at, and what a trial has changed of one domain."""

    constraint: Constraint
    counts: DomainCounts
    self_match: int
    changed: dict[str, int] = field(default_factory=dict)

    def clone(self) -> _Hard:
        return _Hard(self.constraint, self.counts, self.self_match, dict(self.changed))

    def lowest(self) -> int:
        if len(self.counts.counts) < self.constraint.min_domains:
            return 0
        if not self.changed:
            return self.counts.lowest_but(None, 0)
        if len(self.changed) == 1:
            [(domain, by)] = self.changed.items()
            return self.counts.lowest_but(domain, by)
        return min(count + self.changed.get(domain, 0) for domain, count in self.counts.counts.items())


class _Filtering(Struct):
    constraints: list[_Hard]

    def clone(self) -> _Filtering:
        return _Filtering([each.clone() for each in self.constraints])


class _Scoring(Struct):
    """Of each soft constraint the counts, the weight of a pod, and what is added; the slots of nodes that are ignored."""

    constraints: Sequence[tuple[DomainCounts, float, int]]
    ignored: set[int]


DEFAULT_ARGS = PodTopologySpreadArgs()


class PodTopologySpread:
    """See the module."""

    name = "PodTopologySpread"

    def __init__(self, handle: Handle, args: PodTopologySpreadArgs = DEFAULT_ARGS) -> None:
        self._counts = CountKeeper(handle.snapshot)
        self._defaults = Defaults(handle.listers, args)

    def _constraints(self, pod: Pod, when: str) -> Sequence[Constraint]:
        if pod.spec.topology_spread_constraints:
            return constraints_of(pod, when)
        return self._defaults.of(pod, when)

    # ---- filter

    def pre_filter(self, state: CycleState, pod: Pod) -> tuple[PreFilterResult | None, Status | None]:
        constraints = self._constraints(pod, DO_NOT_SCHEDULE)
        if not constraints:
            return None, SKIP
        labels = pod.metadata.labels
        found = [_Hard(each, self._count(each, constraints, pod), int(each.selector.matches(labels))) for each in constraints]
        state.write(_Filtering(found))
        return None, None

    def _count(self, constraint: Constraint, all_of: Sequence[Constraint], pod: Pod, *, all_keys: bool = True) -> DomainCounts:
        """The pods that the constraint selects, in the domains that count for this pod."""
        namespace, selector, topology_key = pod.metadata.namespace, constraint.selector, constraint.topology_key
        keys = tuple(each.topology_key for each in all_of)
        policies = constraint.policies(pod)

        def means(where: str, labels: dict[str, str], leaving: bool) -> bool:
            return not leaving and where == namespace and not selector.everything and selector.matches(labels)

        def domain_of(node: NodeInfo) -> str | None:
            if all_keys and not has_all_keys(node, keys):
                return None
            return node.labels.get(topology_key) if accepts(constraint, pod, node) else None

        key = (namespace, selector, topology_key, keys if all_keys else None, policies)
        return self._counts.get(key, means, domain_of, with_empty=True)

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        labels = node.labels
        for each in state.read(_Filtering).constraints:
            value = labels.get(each.constraint.topology_key)
            if value is None:
                return NO_LABEL
            count = each.counts.counts.get(value, 0) + each.self_match
            if each.changed:
                count += each.changed.get(value, 0)
            if count > each.constraint.max_skew and count - each.lowest() > each.constraint.max_skew:
                return UNEVEN
        return None

    def add_pod(self, state: CycleState, pod: Pod, other: PodInfo, node: NodeInfo) -> None:
        _moved(state, other, node, 1)

    def remove_pod(self, state: CycleState, pod: Pod, other: PodInfo, node: NodeInfo) -> None:
        _moved(state, other, node, -1)

    # ---- score

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        constraints = self._constraints(pod, SCHEDULE_ANYWAY)
        if not constraints:
            return SKIP
        all_keys = bool(pod.spec.topology_spread_constraints) or not self._defaults.system
        slots = [node.slot for node in nodes]
        counts = [self._count(each, constraints, pod, all_keys=all_keys) for each in constraints]
        ignored = {slot for slot in slots if 0 in [each.ids[slot] for each in counts]} if all_keys else set()
        parts = []
        for constraint, found in zip(constraints, counts, strict=True):
            size = len(slots) - len(ignored)
            if constraint.topology_key != HOSTNAME:
                size = len({found.ids[slot] for slot in slots if slot not in ignored})
            parts.append((found, math.log(size + 2), constraint.max_skew - 1))
        state.write(_Scoring(parts, ignored))
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        return self.score_all(state, pod, (node,))[0]

    def score_all(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> list[int]:
        """Pods in the node's domains; -1 for a node that is ignored."""
        scoring = state.read(_Scoring)
        slots = [node.slot for node in nodes]
        totals = [0.5] * len(slots)  # rounds
        for counts, weight, base in scoring.constraints:
            ids, values = counts.ids, counts.values
            if len(values) <= len(slots):
                table = [0.0, *[count * weight + base for count in values[1:]]]
                totals = [total + table[ids[slot]] for total, slot in zip(totals, slots, strict=True)]
            else:
                marks = [values[ids[slot]] * weight + base if ids[slot] else 0.0 for slot in slots]
                totals = [total + mark for total, mark in zip(totals, marks, strict=True)]
        if scoring.ignored:
            return [-1 if slot in scoring.ignored else int(total) for slot, total in zip(slots, totals, strict=True)]
        return [*map(int, totals)]

    def normalize(self, state: CycleState, pod: Pod, scores: list[int]) -> list[int]:
        """The fewest are best; ignored nodes (-1) get nothing."""
        least, most = min(scores), max(scores)
        if least < 0 <= most:
            least = min(score for score in scores if score >= 0)
        if not most:
            return [MAX_SCORE if score >= 0 else 0 for score in scores]
        both = MAX_SCORE * (most + least)
        if least >= 0 and len({*scores}) < len(scores) // 4:  # few different scores
            scaled = {score: (both - MAX_SCORE * score) // most if score >= 0 else 0 for score in {*scores}}
            return [scaled[score] for score in scores]
        return [(both - MAX_SCORE * score) // most if score >= 0 else 0 for score in scores]

    # ---- events

    def interests(self) -> Sequence[Interest]:
        return (
            Interest(What.ASSIGNED_POD, Action.ADD | Action.DELETE | Action.LABEL, self._pod_matters),
            Interest(What.NODE, Action.ADD | Action.DELETE | Action.LABEL | Action.TAINT, self._node_matters),
            Interest(What.POD, Action.LABEL | Action.TOLERATION),
        )

    def _pod_matters(self, pod: Pod, event: ClusterEvent) -> bool:
        """A selected pod came, went, or was relabelled into or out of a constraint's selection."""
        other = event.new or event.old
        if other.metadata.namespace != pod.metadata.namespace:
            return False
        for constraint in self._constraints(pod, DO_NOT_SCHEDULE):
            before = event.old is not None and constraint.selector.matches(event.old.metadata.labels)
            after = event.new is not None and constraint.selector.matches(event.new.metadata.labels)
            if before != after:
                return True
        return False

    def _node_matters(self, pod: Pod, event: ClusterEvent) -> bool:
        """A node that counts came or went, or its domain or eligibility changed."""
        constraints = self._constraints(pod, DO_NOT_SCHEDULE)

        def domains(node: object) -> list[str | None]:
            labels = node.metadata.labels if node is not None else {}  # type: ignore[attr-defined]
            found = [labels.get(each.topology_key) for each in constraints]
            return [] if None in found else found

        before, after = domains(event.old), domains(event.new)
        if event.old is None or event.new is None or event.action & Action.TAINT:
            return bool(before or after)
        return before != after


def _moved(state: CycleState, other: PodInfo, node: NodeInfo, sign: int) -> None:
    found = state.find(_Filtering)
    if found is None:
        return
    for each in found.constraints:
        domain = each.counts.domain(node)
        if domain is not None and each.counts.counts_pod(other):
            each.changed[domain] = each.changed.get(domain, 0) + sign
