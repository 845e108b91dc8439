"""Conditions of the common form (metav1.Condition), as the newer kinds have them in their status.

Source: apimachinery `pkg/apis/meta/v1/validation` (ValidateConditions).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import duplicate, invalid, not_supported, required, too_long
from setpoint.registry.fields import Errors, qualified_name

_STATUSES = ("False", "True", "Unknown")
_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_BAD_REASON = names.regex_complaint(
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or"
    " '_,:', and must end with an alphanumeric character or '_'",
    _REASON,
    "my_name",
    "MY_NAME",
    "MyName",
    "ReasonA,ReasonB",
    "ReasonA:ReasonB",
)
_LONGEST_REASON, _LONGEST_MESSAGE = 1024, 32 * 1024  # bytes

Condition = Mapping[str, Any]


def validate_conditions(path: str, conditions: Sequence[Condition] | None) -> Errors:
    """Each type once, and every condition complete."""
    errors: Errors = []
    seen: set[str] = set()
    for i, condition in enumerate(conditions or ()):
        kind = condition.get("type", "")
        if kind in seen:
            errors.append(duplicate(f"{path}[{i}].type", kind))
        seen.add(kind)
        errors += _condition(f"{path}[{i}]", condition)
    return errors


def _condition(path: str, condition: Condition) -> Errors:
    status, generation = condition.get("status", ""), condition.get("observedGeneration") or 0
    errors = qualified_name(f"{path}.type", condition.get("type", ""))
    if status not in _STATUSES:
        errors.append(not_supported(f"{path}.status", status, _STATUSES))
    if generation < 0:
        errors.append(invalid(f"{path}.observedGeneration", generation, "must be greater than or equal to zero"))
    if not condition.get("lastTransitionTime"):
        errors.append(required(f"{path}.lastTransitionTime", "must be set"))
    errors += _reason(f"{path}.reason", condition.get("reason", ""))
    if len(condition.get("message", "").encode()) > _LONGEST_MESSAGE:
        errors.append(too_long(f"{path}.message", _LONGEST_MESSAGE))
    return errors


def _reason(path: str, reason: str) -> Errors:
    if not reason:
        return [required(path, "must be set")]
    errors: Errors = [] if re.fullmatch(_REASON, reason) else [invalid(path, reason, _BAD_REASON)]
    return [*errors, too_long(path, _LONGEST_REASON)] if len(reason.encode()) > _LONGEST_REASON else errors
