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
from functools import reduce
from typing import Any

from msgspec import Struct, field

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.candidates import candidates, each_once, first, plus
from setpoint.scheduler.domains import CountKeeper, DomainCounts
from setpoint.scheduler.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
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
    """What each node has of pods, weighted; which nodes are ignored, if any."""

    marks: list[float]
    ignored: list[bool] | None


DEFAULT_ARGS = PodTopologySpreadArgs()


class PodTopologySpread:
    """See the module."""

    name = "PodTopologySpread"

    def __init__(self, handle: Handle, args: PodTopologySpreadArgs = DEFAULT_ARGS) -> None:
        self._snapshot = handle.snapshot
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
        found = [_Hard(each, self._count(each, constraints, state), int(each.selector.matches(labels))) for each in constraints]
        state.write(_Filtering(found))
        return None, None

    def _count(
        self, constraint: Constraint, all_of: Sequence[Constraint], state: CycleState, *, all_keys: bool = True
    ) -> DomainCounts:
        """The pods that the constraint selects, in the domains that count for this pod."""
        pod = state.info.pod
        namespace, selector, topology_key = pod.metadata.namespace, constraint.selector, constraint.topology_key
        keys = tuple(each.topology_key for each in all_of)
        policies = constraint.policies(pod)

        def means(where: str, labels: dict[str, str], leaving: bool) -> bool:
            return not leaving and where == namespace and not selector.everything and selector.matches(labels)

        def domain_of(node: NodeInfo) -> str | None:
            if all_keys and not has_all_keys(node, keys):
                return None
            return node.labels.get(topology_key) if policies is None or accepts(constraint, pod, node) else None

        key = (namespace, selector, topology_key, keys if all_keys else None, policies)
        return self._counts.get(key, means, domain_of, state.budget, with_empty=True)

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

    def filter_all(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> list[Status | None]:
        refusals: list[Status | None] = [None] * len(nodes)
        for each in state.read(_Filtering).constraints:
            values = candidates(nodes).gather(self._snapshot.label_column(each.constraint.topology_key))
            most = each.constraint.max_skew + each.lowest() - each.self_match
            count = each.counts.counts.get

            def judge(value: str | None, most: int = most, count: Any = count) -> Status | None:
                if value is None:
                    return NO_LABEL
                return UNEVEN if count(value, 0) > most else None

            refusals = first(refusals, each_once(judge, values))
        return refusals

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
        found = [self._count(each, constraints, state, all_keys=all_keys) for each in constraints]
        gather = candidates(nodes).gather
        domains = [gather(each.ids) for each in found]
        ignored = [0 in ids for ids in zip(*domains, strict=True)] if all_keys and any(0 in ids for ids in domains) else None
        left = len(nodes) - (sum(ignored) if ignored else 0)
        marks = []
        for constraint, counts, ids in zip(constraints, found, domains, strict=True):
            size = left if constraint.topology_key == HOSTNAME else _different(ids, ignored)
            marks.append(_marks(counts, ids, math.log(size + 2), constraint.max_skew - 1))
        state.write(_Scoring(reduce(plus, marks), ignored))
        return None

    def score_all(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> list[int]:
        """Pods in the node's domains, weighted; -1 for a node that is ignored."""
        scoring = state.read(_Scoring)
        scores = each_once(lambda mark: int(mark + 0.5), scoring.marks)  # rounds
        if scoring.ignored is None:
            return scores
        return [-1 if ignored else score for ignored, score in zip(scoring.ignored, scores, strict=True)]

    def normalize(self, state: CycleState, pod: Pod, scores: list[int]) -> list[int]:
        """The fewest are best; ignored nodes (-1) get nothing."""
        least, most = min(scores), max(scores)
        if least < 0 <= most:
            least = min(score for score in scores if score >= 0)
        if not most:
            return [MAX_SCORE if score >= 0 else 0 for score in scores]
        both = most + least
        return each_once(lambda score: MAX_SCORE * (both - score) // most if score >= 0 else 0, scores)

    # ---- events

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (
            ClusterEventWithHint(
                EventResource.ASSIGNED_POD, ActionType.ADD | ActionType.DELETE | ActionType.LABEL, self._pod_matters
            ),
            ClusterEventWithHint(
                EventResource.NODE, ActionType.ADD | ActionType.DELETE | ActionType.LABEL | ActionType.TAINT, self._node_matters
            ),
            ClusterEventWithHint(EventResource.POD, ActionType.LABEL | ActionType.TOLERATION),
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

        def domains(node: Any) -> list[str | None]:
            labels = node.metadata.labels if node is not None else {}
            found = [labels.get(each.topology_key) for each in constraints]
            return [] if None in found else found

        before, after = domains(event.old), domains(event.new)
        if event.old is None or event.new is None or event.action & ActionType.TAINT:
            return bool(before or after)
        return before != after


def _different(ids: Sequence[int], ignored: Sequence[bool] | None) -> int:
    """How many domains there are among the nodes that count."""
    return len({*ids}) if ignored is None else len({each for each, out in zip(ids, ignored, strict=True) if not out})


def _marks(counts: DomainCounts, ids: Sequence[int], weight: float, base: int) -> list[float]:
    """Pods in the domain times weight, plus `base`; 0 for a node in no domain."""
    values = counts.values
    if len(values) <= len(ids):
        table = [0.0, *[count * weight + base for count in values[1:]]]
        return [*map(table.__getitem__, ids)]
    marks = each_once(lambda count: count * weight + base, [*map(values.__getitem__, ids)])
    return [mark if each else 0.0 for mark, each in zip(marks, ids, strict=True)] if 0 in ids else marks


def _moved(state: CycleState, other: PodInfo, node: NodeInfo, sign: int) -> None:
    found = state.find(_Filtering)
    if found is None:
        return
    for each in found.constraints:
        domain = each.counts.domain(node)
        if domain is not None and each.counts.counts_pod(other):
            each.changed[domain] = each.changed.get(domain, 0) + sign
