"""Pod affinity terms, compiled: which pods a term means, and around which topology key.

Source: `AffinityTerm` of kube-scheduler's framework. A term means pods of its namespaces (the pod's own one, if it names none and
has no namespace selector) and of every namespace whose labels its namespace selector matches; an absent label selector
matches no pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from setpoint.api.machinery.selectors import NOTHING, LabelSelector, from_object
from setpoint.api.types.core_v1 import Affinity, PodAffinityTerm

Labels = Mapping[str, str]


class PodTerm(Struct, frozen=True):
    """One term; equal terms of different pods are one. `weight` is 0 for a required one."""

    namespaces: frozenset[str]
    namespace_selector: LabelSelector
    selector: LabelSelector
    topology_key: str
    weight: int = 0

    def matches(self, namespace: str, labels: Labels, namespace_labels: Labels) -> bool:
        if namespace not in self.namespaces and not self.namespace_selector.matches(namespace_labels):
            return False
        return self.selector.matches(labels)


class PodTerms(Struct, frozen=True):
    """All terms of a pod."""

    affinity: tuple[PodTerm, ...] = ()
    anti_affinity: tuple[PodTerm, ...] = ()
    preferred: tuple[PodTerm, ...] = ()
    preferred_not: tuple[PodTerm, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.affinity or self.anti_affinity or self.preferred or self.preferred_not)


NO_TERMS = PodTerms()


def selector_of(selector: Any) -> LabelSelector:
    """A typed label selector, compiled; None selects nothing."""
    return NOTHING if selector is None else from_object(msgspec.to_builtins(selector))


def terms_of(affinity: Affinity, namespace: str) -> PodTerms:
    """The terms of a pod in `namespace`."""
    to, away = affinity.pod_affinity, affinity.pod_anti_affinity
    if to is None and away is None:
        return NO_TERMS
    return PodTerms(
        tuple(_term(term, namespace) for term in _required(to)),
        tuple(_term(term, namespace) for term in _required(away)),
        tuple(_term(each.pod_affinity_term, namespace, each.weight) for each in _preferred(to)),
        tuple(_term(each.pod_affinity_term, namespace, each.weight) for each in _preferred(away)),
    )


def _required(rules: Any) -> Iterable[PodAffinityTerm]:
    return () if rules is None else rules.required_during_scheduling_ignored_during_execution or ()


def _preferred(rules: Any) -> Iterable[Any]:
    return () if rules is None else rules.preferred_during_scheduling_ignored_during_execution or ()


def _term(term: PodAffinityTerm, namespace: str, weight: int = 0) -> PodTerm:
    namespaces = frozenset(term.namespaces)
    if not namespaces and term.namespace_selector is None:
        namespaces = frozenset((namespace,))
    return PodTerm(namespaces, selector_of(term.namespace_selector), selector_of(term.label_selector), term.topology_key, weight)
