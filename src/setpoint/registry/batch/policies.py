"""Pod failure policies and success policies of Jobs.

Source: `pkg/apis/batch/validation` (KEP-3329, KEP-3998).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery.status import (
    OMITTED,
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)
from setpoint.registry import go_form
from setpoint.registry.batch import indexes
from setpoint.registry.fields import Errors, nonnegative, qualified_name

Spec = Mapping[str, Any]

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_STATUSES = ("False", "True", "Unknown")
_OPERATORS = ("In", "NotIn")
_MAX_RULES, _MAX_CODES, _MAX_PATTERNS = 20, 255, 20
_LONGEST_INDEXES = 64 * 1024


def validate_failure_policy(path: str, spec: Spec) -> Errors:
    rules = (spec.get("podFailurePolicy") or {}).get("rules") or ()
    pod = (spec.get("template") or {}).get("spec") or {}
    containers = {one.get("name") for field in ("containers", "initContainers") for one in pod.get(field) or ()}
    errors = _too_many_rules(path, rules)
    for i, rule in enumerate(rules):
        errors += _failure_rule(f"{path}.rules[{i}]", rule, spec, containers)
    return errors


def _too_many_rules(path: str, rules: Sequence[Spec]) -> Errors:
    return [too_many(f"{path}.rules", len(rules), _MAX_RULES)] if len(rules) > _MAX_RULES else []


def _quoted(words: Sequence[str]) -> str:
    """As Go prints a list of texts."""
    return "valid values: [" + " ".join(f'"{word}"' for word in words) + "]"


def _failure_rule(path: str, rule: Spec, spec: Spec, containers: set[Any]) -> Errors:
    action, codes, patterns = rule.get("action", ""), rule.get("onExitCodes"), rule.get("onPodConditions") or ()
    errors: Errors = []
    if not action:
        errors.append(required(f"{path}.action", _quoted(_ACTIONS)))
    elif action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        errors.append(invalid(f"{path}.action", action, "requires the backoffLimitPerIndex to be set"))
    elif action not in _ACTIONS:
        errors.append(not_supported(f"{path}.action", action, _ACTIONS))
    if codes is not None:
        errors += _exit_codes(f"{path}.onExitCodes", codes, containers)
    errors += _conditions(f"{path}.onPodConditions", patterns)
    if codes is not None and patterns:
        errors.append(invalid(path, OMITTED, "specifying both OnExitCodes and OnPodConditions is not supported"))
    if codes is None and not patterns:
        errors.append(invalid(path, OMITTED, "specifying one of OnExitCodes and OnPodConditions is required"))
    return errors


def _exit_codes(path: str, codes: Spec, containers: set[Any]) -> Errors:
    operator, name, values = codes.get("operator", ""), codes.get("containerName"), codes.get("values") or []
    errors: Errors = []
    if not operator:
        errors.append(required(f"{path}.operator", _quoted(_OPERATORS)))
    elif operator not in _OPERATORS:
        errors.append(not_supported(f"{path}.operator", operator, _OPERATORS))
    if name is not None and name not in containers:
        why = "must be one of the container or initContainer names in the pod template"
        errors.append(invalid(f"{path}.containerName", name, why))
    if not values:
        errors.append(invalid(f"{path}.values", [], "at least one value is required"))
    elif len(values) > _MAX_CODES:
        errors.append(too_many(f"{path}.values", len(values), _MAX_CODES))
    for i, value in enumerate(values):
        if operator == "In" and value == 0:
            errors.append(invalid(f"{path}.values[{i}]", value, "must not be 0 for the In operator"))
        if value in values[:i]:
            errors.append(duplicate(f"{path}.values[{i}]", value))
    if list(values) != sorted(values):
        errors.append(invalid(f"{path}.values", values, "must be ordered"))
    return errors


def _conditions(path: str, patterns: Sequence[Spec]) -> Errors:
    errors: Errors = [too_many(path, len(patterns), _MAX_PATTERNS)] if len(patterns) > _MAX_PATTERNS else []
    for i, pattern in enumerate(patterns):
        errors += qualified_name(f"{path}[{i}].type", pattern.get("type", ""))
        status = pattern.get("status", "")
        if status not in _STATUSES:
            errors.append(not_supported(f"{path}[{i}].status", status, _STATUSES))
    return errors


def validate_success_policy(path: str, spec: Spec) -> Errors:
    policy = spec["successPolicy"]
    if spec.get("completionMode") != "Indexed":
        return [invalid(path, go_form.of(policy, "SuccessPolicy"), "requires indexed completion mode")]
    rules = policy.get("rules") or ()
    errors = _too_many_rules(path, rules)
    if not rules:
        errors.append(required(f"{path}.rules", "at least one rules must be specified when the successPolicy is specified"))
    for i, rule in enumerate(rules):
        errors += _success_rule(f"{path}.rules[{i}]", rule, spec.get("completions") or 0)
    return errors


def _success_rule(path: str, rule: Spec, completions: int) -> Errors:
    listed, needed = rule.get("succeededIndexes"), rule.get("succeededCount")
    errors: Errors = []
    if listed is None and needed is None:
        errors.append(required(path, "at least one of succeededCount or succeededIndexes must be specified"))
    total = 0
    if listed is not None:
        if len(listed) > _LONGEST_INDEXES:
            errors.append(too_long(f"{path}.succeededIndexes", _LONGEST_INDEXES))
        try:
            total = indexes.count(listed, completions)
        except indexes.IndexesError as error:
            errors.append(invalid(f"{path}.succeededIndexes", listed, f"error parsing succeededIndexes: {error}"))
    if needed is None:
        return errors
    where = f"{path}.succeededCount"
    errors += nonnegative(where, needed)
    if needed > completions:
        why = f"must be less than or equal to {completions} (the number of specified completions)"
        errors.append(invalid(where, needed, why))
    if listed is not None and needed > total:
        why = f"must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
        errors.append(invalid(where, needed, why))
    return errors
