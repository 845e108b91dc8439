"""Which requests a webhook or policy is about.

Source: `pkg/apis/admissionregistration/validation`, `pkg/apis/admissionregistration/v1/defaults.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from setpoint.api.machinery.status import duplicate, invalid, not_supported, required
from setpoint.registry.fields import Errors, label_selector, one_of, path_segment
from setpoint.registry.spec_status import fill
from setpoint.registry.strategy import Object

FAILURE_POLICIES = ("Fail", "Ignore")
MATCH_POLICIES = ("Equivalent", "Exact")
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_MUTATING_OPERATIONS = ("*", "CONNECT", "CREATE", "UPDATE")
_SCOPES = ("*", "Cluster", "Namespaced")
_RULE_LISTS = ("resourceRules", "excludeResourceRules")

Rule = Mapping[str, Any]


def default_rules(rules: Sequence[Object] | None) -> None:
    for rule in rules or ():
        fill(rule, "scope", "*")


def default_match_resources(match: Object | None) -> None:
    if match is None:
        return
    fill(match, "matchPolicy", "Equivalent")
    fill(match, "namespaceSelector", {})
    fill(match, "objectSelector", {})
    for field in _RULE_LISTS:
        default_rules(match.get(field))


def validate_rule(path: str, rule: Rule) -> Errors:
    operations, groups, versions = (rule.get(field) or [] for field in ("operations", "apiGroups", "apiVersions"))
    errors = _list(f"{path}.operations", operations, "operations")
    for i, operation in enumerate(operations):
        errors += one_of(f"{path}.operations[{i}]", operation, _OPERATIONS)
    errors += _list(f"{path}.apiGroups", groups, "API groups")
    errors += _list(f"{path}.apiVersions", versions, "API versions")
    errors += [required(f"{path}.apiVersions[{i}]") for i, version in enumerate(versions) if not version]
    errors += _resources(f"{path}.resources", rule.get("resources") or [])
    return errors + one_of(f"{path}.scope", rule.get("scope"), _SCOPES)


def _list(path: str, values: Sequence[str], what: str) -> Errors:
    if not values:
        return [required(path)]
    if len(values) > 1 and "*" in values:
        return [invalid(path, values, f"if '*' is present, must not specify other {what}")]
    return []


def _resources(path: str, resources: Sequence[str]) -> Errors:
    """Resources with or without subresources; nothing may be named twice over by means of a `*`."""
    errors: Errors = [] if resources else [required(path)]
    errors += _shadowed(path, resources)
    if len(resources) > 1 and "*/*" in resources:
        errors.append(invalid(path, resources, "if '*/*' is present, must not specify other resources"))
    plain = [resource for resource in resources if resource and "/" not in resource]
    if "*" in resources and plain and plain[-1] != "*":
        why = "if '*' is present, must not specify other resources without subresources"
        errors.append(invalid(path, resources, why))
    return errors


def _shadowed(path: str, resources: Sequence[str]) -> Iterator[Any]:
    all_parts: set[str] = set()
    all_owners: set[str] = set()
    for i, resource in enumerate(resources):
        if not resource:
            yield required(f"{path}[{i}]")
            continue
        owner, slash, part = resource.partition("/")
        if not slash:
            continue
        if owner in all_parts:
            yield invalid(f"{path}[{i}]", resource, f"if '{owner}/*' is present, must not specify {resource}")
        if part in all_owners:
            yield invalid(f"{path}[{i}]", resource, f"if '*/{part}' is present, must not specify {resource}")
        if part == "*":
            all_parts.add(owner)
        if owner == "*":
            all_owners.add(part)


def validate_match_resources(path: str, match: Rule | None, *, mutating: bool = False) -> Errors:
    if match is None:
        return []
    errors = one_of(f"{path}.matchPolicy", match.get("matchPolicy"), MATCH_POLICIES)
    for field in ("namespaceSelector", "objectSelector"):
        errors += label_selector(f"{path}.{field}", match.get(field))
    for field in _RULE_LISTS:
        for i, rule in enumerate(match.get(field) or ()):
            errors += _named_rule(f"{path}.{field}[{i}]", rule)
    return errors + list(_unchangeable(path, match)) if mutating else errors


def _named_rule(path: str, rule: Rule) -> Errors:
    names = rule.get("resourceNames") or []
    errors: Errors = []
    for i, name in enumerate(names):
        errors += path_segment(f"{path}.resourceNames[{i}]", name)
        errors += [duplicate(f"{path}.resourceNames[{i}]", name)] if name in names[:i] else []
    return errors + validate_rule(path, rule)


def _unchangeable(path: str, match: Rule) -> Iterator[Any]:
    """What is deleted cannot be changed; Kubernetes names no rule here."""
    for rule in match.get("resourceRules") or ():
        for operation in rule.get("operations") or ():
            if operation not in _MUTATING_OPERATIONS:
                yield not_supported(f"{path}.resourceRules.operations", operation, _MUTATING_OPERATIONS)
