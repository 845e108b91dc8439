"""NodeAffinity: `spec.nodeSelector` and the required node affinity must hold; preferred terms add their weights."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from setpoint.api.types.core_v1 import NodeSelectorTerm, Pod, PreferredSchedulingTerm
from setpoint.client.node_selectors import required_terms, selects, term_matches
from setpoint.scheduler.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from setpoint.scheduler.framework import CycleState, Handle, PreFilterResult, default_normalize
from setpoint.scheduler.plugin_config import NodeAffinityArgs
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import SKIP, Status, unresolvable

REFUSED = unresolvable("node(s) didn't match Pod's node affinity/selector")
ENFORCED = unresolvable("node(s) didn't match scheduler-enforced node affinity")
CONFLICT = unresolvable("pod affinity terms conflict")


class _Preferred(Struct, frozen=True):
    terms: Sequence[PreferredSchedulingTerm]


DEFAULT_ARGS = NodeAffinityArgs()


class NodeAffinity:
    """See the module."""

    name = "NodeAffinity"
    local = True

    def __init__(self, handle: Handle, args: NodeAffinityArgs = DEFAULT_ARGS) -> None:
        added = args.added_affinity
        required = added.required_during_scheduling_ignored_during_execution if added is not None else None
        self._added = required.node_selector_terms or () if required is not None else None
        self._added_preferred = (added.preferred_during_scheduling_ignored_during_execution or ()) if added is not None else ()

    def pre_filter(self, state: CycleState, pod: Pod) -> tuple[PreFilterResult | None, Status | None]:
        terms = required_terms(pod.spec)
        if terms is None:
            return None, None if pod.spec.node_selector or self._added is not None else SKIP
        names = _named_nodes(terms)
        if names is None:
            return None, None
        return (PreFilterResult(names), None) if names else (None, CONFLICT)

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        if self._added is not None and not any(term_matches(term, node.known) for term in self._added):
            return ENFORCED
        return None if selects(pod.spec, node.known) else REFUSED

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
        own = affinity.preferred_during_scheduling_ignored_during_execution or () if affinity is not None else ()
        if not own and not self._added_preferred:
            return SKIP
        state.write(_Preferred((*own, *self._added_preferred)))
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        terms = state.read(_Preferred).terms
        return sum(term.weight for term in terms if term_matches(term.preference, node.known))

    def normalize(self, state: CycleState, pod: Pod, scores: list[int]) -> list[int]:
        return default_normalize(scores)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (ClusterEventWithHint(EventResource.NODE, ActionType.ADD | ActionType.LABEL, _node_came_to_match),)


def _named_nodes(terms: Sequence[NodeSelectorTerm]) -> frozenset[str] | None:
    """The nodes that all alternatives name by `metadata.name`; None if one of them leaves it open or there are none."""
    union: set[str] = set()
    for term in terms:
        named: set[str] | None = None
        for requirement in term.match_fields:
            if requirement.key == "metadata.name" and requirement.operator == "In":
                named = set(requirement.values) if named is None else named & set(requirement.values)
        if named is None:
            return None
        union |= named
    return frozenset(union) if terms else None


def _node_came_to_match(pod: Pod, event: ClusterEvent) -> bool:
    if not selects(pod.spec, event.new):
        return False
    return event.old is None or not selects(pod.spec, event.old)
