"""Tolerations, and the taint effects they name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import invalid, not_supported, required
from setpoint.registry.fields import Errors, qualified_name

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def validate_effect(path: str, effect: str, *, allow_empty: bool = False) -> Errors:
    if not effect:
        return [] if allow_empty else [required(path)]
    return [] if effect in EFFECTS else [not_supported(path, effect, EFFECTS)]


def validate_tolerations(path: str, tolerations: Sequence[Mapping[str, Any]]) -> Errors:
    errors: Errors = []
    for i, toleration in enumerate(tolerations):
        errors += _toleration(f"{path}[{i}]", toleration)
    return errors


def _toleration(path: str, toleration: Mapping[str, Any]) -> Errors:
    key, operator, effect = toleration.get("key", ""), toleration.get("operator", ""), toleration.get("effect", "")
    errors = qualified_name(f"{path}.key", key) if key else []
    if not key and operator != "Exists":
        why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        errors.append(invalid(f"{path}.operator", operator, why))
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        errors.append(invalid(f"{path}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
    errors += _operator(f"{path}.operator", operator, toleration.get("value", ""))
    return errors + validate_effect(f"{path}.effect", effect, allow_empty=True)


def _operator(path: str, operator: str, value: str) -> Errors:
    if operator in {"Equal", ""}:
        messages = names.label_value(value)
        return [invalid(path, value, ";".join(messages))] if messages else []
    if operator == "Exists":
        return [invalid(path, value, "value must be empty when `operator` is 'Exists'")] if value else []
    # the comparing operators belong to a feature that is off (KEP-5471), yet are named to those who try them
    comparing = ("Lt", "Gt") if operator in {"Lt", "Gt"} else ()
    return [not_supported(path, operator, ("Equal", "Exists", *comparing))]
