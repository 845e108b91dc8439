"""`matchLabelKeys` and `mismatchLabelKeys`: the pod's own label values become part of the selectors (KEP-3633, KEP-3243)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.registry.strategy import Object


def merge_label_keys(pod: Object) -> None:
    """Done once, when the pod is created."""
    labels = pod["metadata"].get("labels") or {}
    spec = pod.get("spec") or {}
    for term in _terms(spec.get("affinity") or {}):
        _merge(term, "matchLabelKeys", "In", labels)
        _merge(term, "mismatchLabelKeys", "NotIn", labels)
    for constraint in spec.get("topologySpreadConstraints") or ():
        _merge(constraint, "matchLabelKeys", "In", labels)


def _terms(affinity: Mapping[str, Any]) -> Iterator[Object]:
    for name in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(name) or {}
        yield from rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        for weighted in rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
            yield weighted.get("podAffinityTerm") or {}


def _merge(term: Object, field: str, operator: str, labels: Mapping[str, str]) -> None:
    selector = term.get("labelSelector")
    if selector is None:
        return
    added = [{"key": key, "operator": operator, "values": [labels[key]]} for key in term.get(field) or () if key in labels]
    if added:
        selector["matchExpressions"] = [*(selector.get("matchExpressions") or ()), *added]
