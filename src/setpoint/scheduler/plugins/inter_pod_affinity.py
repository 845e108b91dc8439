"""InterPodAffinity: near pods that the pod wants near, away from those it wants away, and from those that want it away.

Required terms decide (filter), preferred ones and the terms of pods that are there already weigh (score). A pod whose required
affinity matches itself starts a group: it may go anywhere with the topology key while no such pod is to be found.
Source: `plugins/interpodaffinity` of kube-scheduler.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from setpoint.api.types.core_v1 import NAMESPACES, Pod
from setpoint.scheduler.candidates import candidates, each_once, first, plus
from setpoint.scheduler.domains import CountKeeper, DomainCounts
from setpoint.scheduler.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from setpoint.scheduler.framework import MAX_SCORE, CycleState, Handle, PreFilterResult
from setpoint.scheduler.plugin_config import InterPodAffinityArgs
from setpoint.scheduler.pod_terms import Labels, PodTerm
from setpoint.scheduler.pods import PodInfo
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.standing_terms import Kind
from setpoint.scheduler.status import SKIP, Status, unresolvable, unschedulable

AFFINITY = unresolvable("node(s) didn't match pod affinity rules")
ANTI_AFFINITY = unschedulable("node(s) didn't match pod anti-affinity rules")
EXISTING_ANTI_AFFINITY = unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")
_NO_LABELS: Labels = {}


class _Wanted(Struct):
    """A term, how many pods it means where, and what a trial has changed of that."""

    term: PodTerm
    counts: dict[str, int]
    total: int = 0
    changed: dict[str, int] = field(default_factory=dict)

    def here(self, labels: Labels) -> int | None:
        """The count in the domain of a node; None if it is in none."""
        value = labels.get(self.term.topology_key)
        if value is None:
            return None
        return self.counts.get(value, 0) + self.changed.get(value, 0) if self.changed else self.counts.get(value, 0)

    def add(self, labels: Labels, sign: int) -> None:
        value = labels.get(self.term.topology_key)
        if value is not None:
            self.changed[value] = self.changed.get(value, 0) + sign

    def clone(self) -> _Wanted:
        return _Wanted(self.term, self.counts, self.total, dict(self.changed))


class _Filtering(Struct):
    """The pod's required terms and those that others have against it."""

    affinity: list[_Wanted]
    anti_affinity: list[_Wanted]
    existing: list[_Wanted]
    starts_group: bool
    namespace_labels: Labels

    def clone(self) -> _Filtering:
        affinity, anti_affinity = [each.clone() for each in self.affinity], [each.clone() for each in self.anti_affinity]
        existing = [each.clone() for each in self.existing]
        return _Filtering(affinity, anti_affinity, existing, self.starts_group, self.namespace_labels)


class _Scoring(Struct, frozen=True):
    """Topology key, counts by domain, weight of one pod."""

    parts: Sequence[tuple[str, dict[str, int], int]]


DEFAULT_ARGS = InterPodAffinityArgs()


class InterPodAffinity:
    """See the module."""

    name = "InterPodAffinity"

    def __init__(self, handle: Handle, args: InterPodAffinityArgs = DEFAULT_ARGS) -> None:
        self._snapshot = handle.snapshot
        self._namespaces = handle.listers.of(NAMESPACES)
        self._counts = CountKeeper(handle.snapshot)
        self._args = args

    # ---- filter

    def pre_filter(self, state: CycleState, pod: Pod) -> tuple[PreFilterResult | None, Status | None]:
        info = state.info
        labels = self._labels_of(info.namespace)
        standing = self._snapshot.terms.matching(Kind.ANTI_AFFINITY, info.namespace, info.labels, labels, info.group)
        if not standing and not info.terms.affinity and not info.terms.anti_affinity:
            return None, SKIP
        state.write(
            _Filtering(
                [_wanted(term, self._all_of(state, info.terms.affinity, term)) for term in info.terms.affinity],
                [_wanted(term, self._all_of(state, (term,), term)) for term in info.terms.anti_affinity],
                [_Wanted(term, domains) for term, domains in standing],
                all(term.matches(info.namespace, info.labels, labels) for term in info.terms.affinity),
                labels,
            )
        )
        return None, None

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        found, labels = state.read(_Filtering), node.labels
        if found.affinity and not _near(found, labels):
            return AFFINITY
        for wanted in found.anti_affinity:
            if wanted.here(labels):
                return ANTI_AFFINITY
        for wanted in found.existing:
            if wanted.here(labels):
                return EXISTING_ANTI_AFFINITY
        return None

    def filter_all(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> list[Status | None]:
        found, gather = state.read(_Filtering), candidates(nodes).gather
        refusals: list[Status | None] = [None] * len(nodes)
        if found.affinity:
            refusals = [None if _near(found, node.labels) else AFFINITY for node in nodes]
        for wanted, refusal in _against(found):
            values = gather(self._snapshot.label_column(wanted.term.topology_key))
            counts = [*map(wanted.counts.get, values)]
            if any(counts):
                refusals = first(refusals, [refusal if count else None for count in counts])
        return refusals

    def add_pod(self, state: CycleState, pod: Pod, other: PodInfo, node: NodeInfo) -> None:
        self._moved(state, other, node, 1)

    def remove_pod(self, state: CycleState, pod: Pod, other: PodInfo, node: NodeInfo) -> None:
        self._moved(state, other, node, -1)

    def _moved(self, state: CycleState, other: PodInfo, node: NodeInfo, sign: int) -> None:
        found, info = state.find(_Filtering), state.info
        if found is None:
            return
        if found.affinity and all(self._means(wanted.term, other) for wanted in found.affinity):
            for wanted in found.affinity:
                wanted.add(node.labels, sign)
        for wanted in found.anti_affinity:
            if self._means(wanted.term, other):
                wanted.add(node.labels, sign)
        for term in other.terms.anti_affinity:
            if term.matches(info.namespace, info.labels, found.namespace_labels):
                _entry(found.existing, term).add(node.labels, sign)

    # ---- score

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        info, terms = state.info, state.info.terms
        parts = [(term.topology_key, self._all_of(state, (term,), term).counts, term.weight) for term in terms.preferred]
        parts += [(term.topology_key, self._all_of(state, (term,), term).counts, -term.weight) for term in terms.preferred_not]
        parts += self._standing(info)
        parts = [part for part in parts if any(part[1].values())]
        if not parts:
            return SKIP
        state.write(_Scoring(parts))
        return None

    def _standing(self, info: PodInfo) -> list[tuple[str, dict[str, int], int]]:
        """What the pods that are there think of this one."""
        if self._args.ignore_preferred_terms_of_existing_pods and not (info.terms.preferred or info.terms.preferred_not):
            return []
        labels = self._labels_of(info.namespace)
        hard = self._args.hard_pod_affinity_weight
        found = []
        for kind, sign in ((Kind.AFFINITY, hard), (Kind.PREFERRED, 1), (Kind.PREFERRED_NOT, -1)):
            if sign:
                matching = self._snapshot.terms.matching(kind, info.namespace, info.labels, labels, info.group)
                found += [(term.topology_key, domains, sign * (term.weight or 1)) for term, domains in matching]
        return found

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        labels = node.labels
        total = 0
        for key, counts, weight in state.read(_Scoring).parts:
            value = labels.get(key)
            if value is not None:
                total += weight * counts.get(value, 0)
        return total

    def score_all(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> list[int]:
        gather, totals = candidates(nodes).gather, [0] * len(nodes)
        for key, counts, weight in state.read(_Scoring).parts:
            values = gather(self._snapshot.label_column(key))
            totals = plus(totals, [weight * (count or 0) for count in map(counts.get, values)])
        return totals

    def normalize(self, state: CycleState, pod: Pod, scores: list[int]) -> list[int]:
        least, most = min(scores), max(scores)
        if least == most:
            return [0] * len(scores)
        return each_once(lambda score: int(MAX_SCORE * ((score - least) / (most - least))), scores)

    # ---- whom a term means

    def _all_of(self, state: CycleState, terms: Sequence[PodTerm], around: PodTerm) -> DomainCounts:
        """The pods that all of `terms` mean, by the domains of the topology key of `around`."""
        key, topology_key = (tuple(terms), around.topology_key), around.topology_key

        def means(namespace: str, labels: Labels, _: bool) -> bool:
            there = self._labels_of(namespace)
            return all(term.matches(namespace, labels, there) for term in terms)

        namespaced = [term for term in terms if not term.namespace_selector.nothing]
        generation = self._namespace_generation() if namespaced else None
        return self._counts.get((key, generation), means, lambda node: node.labels.get(topology_key), state.budget)

    def _namespace_generation(self) -> object:
        """Changes when the labels of any namespace do."""
        return frozenset((each.metadata.name, frozenset(each.metadata.labels.items())) for each in self._namespaces.list())

    def _means(self, term: PodTerm, other: PodInfo) -> bool:
        return term.matches(other.namespace, other.labels, self._labels_of(other.namespace))

    def _labels_of(self, namespace: str) -> Labels:
        found = self._namespaces.get(namespace)
        return found.metadata.labels if found is not None else _NO_LABELS

    # ---- events

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (
            ClusterEventWithHint(EventResource.ASSIGNED_POD, ActionType.ADD | ActionType.DELETE | ActionType.LABEL, _pod_matters),
            ClusterEventWithHint(EventResource.NODE, ActionType.ADD | ActionType.LABEL, _node_matters),
            ClusterEventWithHint(EventResource.POD, ActionType.LABEL),
            ClusterEventWithHint(EventResource.NAMESPACE, ActionType.ADD | ActionType.LABEL),
        )


def _wanted(term: PodTerm, counts: DomainCounts) -> _Wanted:
    return _Wanted(term, counts.counts, counts.total)


def _against(found: _Filtering) -> Iterator[tuple[_Wanted, Status]]:
    for wanted in found.anti_affinity:
        yield wanted, ANTI_AFFINITY
    for wanted in found.existing:
        yield wanted, EXISTING_ANTI_AFFINITY


def _entry(existing: list[_Wanted], term: PodTerm) -> _Wanted:
    for wanted in existing:
        if wanted.term == term:
            return wanted
    existing.append(_Wanted(term, {}))
    return existing[-1]


def _near(found: _Filtering, labels: Labels) -> bool:
    near = True
    for wanted in found.affinity:
        count = wanted.here(labels)
        if count is None:
            return False
        near = near and count > 0
    if near:
        return True
    nobody = not any(wanted.total + sum(wanted.changed.values()) for wanted in found.affinity)
    return nobody and found.starts_group


def _pod_matters(pod: Pod, event: ClusterEvent) -> bool:
    """A pod that was wanted near came, or one in the way left; new labels are both. Namespaces are not looked at closely."""
    terms = PodInfo(pod).terms
    if event.new is not None and any(term.selector.matches(event.new.metadata.labels) for term in terms.affinity):
        return True
    if event.old is None:
        return False
    gone = PodInfo(event.old)
    if any(term.selector.matches(gone.labels) for term in terms.anti_affinity):
        return True
    return any(term.selector.matches(pod.metadata.labels) for term in gone.terms.anti_affinity)


def _node_matters(pod: Pod, event: ClusterEvent) -> bool:
    """A node came into a domain, or changed domains, of a topology key that a term names."""
    terms = PodInfo(pod).terms
    keys = {term.topology_key for term in (*terms.affinity, *terms.anti_affinity)}
    if not keys or event.old is None:
        return True
    before, after = event.old.metadata.labels, event.new.metadata.labels
    return any(before.get(key) != after.get(key) for key in keys)
