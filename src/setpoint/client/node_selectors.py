"""Which nodes a pod's node selector and node affinity mean (component-helpers, `nodeaffinity`)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from setpoint.api.types.core_v1 import Node, NodeSelectorRequirement, NodeSelectorTerm, PodSpec

_whole_number = re.compile(r"[+-]?[0-9]+").fullmatch


def requirement_matches(requirement: NodeSelectorRequirement, labels: Mapping[str, str]) -> bool:
    """NotIn and DoesNotExist hold for nodes without the label; Gt and Lt compare whole numbers."""
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value is not None and value in requirement.values
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return value is not None and _compares(requirement, value)
    return False


def _compares(requirement: NodeSelectorRequirement, value: str) -> bool:
    if len(requirement.values) != 1 or not _whole_number(value) or not _whole_number(requirement.values[0]):
        return False
    have, limit = int(value), int(requirement.values[0])
    return have > limit if requirement.operator == "Gt" else have < limit


def term_matches(term: NodeSelectorTerm, node: Node) -> bool:
    """All requirements of a term must hold; a term without any matches nothing."""
    if not term.match_expressions and not term.match_fields:
        return False
    labels = node.metadata.labels
    if not all(requirement_matches(requirement, labels) for requirement in term.match_expressions):
        return False
    fields = {"metadata.name": node.metadata.name}
    return all(requirement_matches(requirement, fields) for requirement in term.match_fields)


def required_terms(spec: PodSpec) -> tuple[NodeSelectorTerm, ...] | None:
    """The alternatives of the required node affinity; None if the pod has no such rule (an empty rule matches no node)."""
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    if affinity is None or affinity.required_during_scheduling_ignored_during_execution is None:
        return None
    return affinity.required_during_scheduling_ignored_during_execution.node_selector_terms or ()


def selects(spec: PodSpec, node: Node) -> bool:
    """Both the node selector and the required node affinity hold."""
    labels = node.metadata.labels
    if any(labels.get(key) != value for key, value in spec.node_selector.items()):
        return False
    terms = required_terms(spec)
    return terms is None or any(term_matches(term, node) for term in terms)
