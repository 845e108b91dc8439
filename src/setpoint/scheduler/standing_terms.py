"""The affinity terms of the pods that have a node, and in which domains these pods stand: the other half of symmetry.

A new pod has to keep away from pods that want nobody of its kind near, and is drawn to those that like it. Terms are counted once
for all the pods that share them, so what a new pod costs depends on how many different terms there are, not on how many pods.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto

from setpoint.scheduler.pod_terms import Labels, PodTerm, PodTerms

Domains = dict[str, int]
_Memo = tuple[int, "Sequence[tuple[PodTerm, Domains]]"]
MEMOS = 1024


class Kind(Enum):
    """What a term asks for."""

    AFFINITY = auto()
    ANTI_AFFINITY = auto()
    PREFERRED = auto()
    PREFERRED_NOT = auto()


class StandingTerms:
    """By kind and term: how many pods with it stand in each domain of its topology key."""

    def __init__(self) -> None:
        self._kinds: dict[Kind, dict[PodTerm, Domains]] = {kind: {} for kind in Kind}
        self._version = 0
        self._memos: dict[tuple[object, ...], _Memo] = {}

    def count(self, terms: PodTerms, labels: Labels, sign: int) -> None:
        """A pod with `terms` came to (1) or left (-1) a node with `labels`."""
        for kind, term in _each(terms):
            value = labels.get(term.topology_key)
            if value is not None:
                self._add(self._kinds[kind], term, value, sign)

    def _add(self, table: dict[PodTerm, Domains], term: PodTerm, value: str, sign: int) -> None:
        domains = table.get(term)
        if domains is None:
            domains = table[term] = {}
            self._version += 1
        left = domains.get(value, 0) + sign
        if left:
            domains[value] = left
            return
        domains.pop(value, None)
        if not domains:
            del table[term]
            self._version += 1

    def matching(
        self, kind: Kind, namespace: str, labels: Labels, namespace_labels: Labels, memo: object
    ) -> Sequence[tuple[PodTerm, Domains]]:
        """The terms that mean such a pod, with their domains. `memo` stands for namespace and labels."""
        table = self._kinds[kind]
        if not table:
            return ()
        key = (kind, memo, frozenset(namespace_labels.items()))
        known = self._memos.get(key)
        if known is not None and known[0] == self._version:
            return known[1]
        found = [(term, domains) for term, domains in table.items() if term.matches(namespace, labels, namespace_labels)]
        if len(self._memos) >= MEMOS:
            self._memos.clear()
        self._memos[key] = (self._version, found)
        return found

    def __getitem__(self, kind: Kind) -> Mapping[PodTerm, Domains]:
        return self._kinds[kind]


def _each(terms: PodTerms) -> Iterator[tuple[Kind, PodTerm]]:
    for term in terms.affinity:
        yield Kind.AFFINITY, term
    for term in terms.anti_affinity:
        yield Kind.ANTI_AFFINITY, term
    for term in terms.preferred:
        yield Kind.PREFERRED, term
    for term in terms.preferred_not:
        yield Kind.PREFERRED_NOT, term
