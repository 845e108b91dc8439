"""Match conditions: named expressions that say whether a webhook or policy is asked at all.

Source: `pkg/apis/admissionregistration/validation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery.status import duplicate, required, too_many
from setpoint.registry.admissionregistration.expressions import Environment
from setpoint.registry.fields import Errors, qualified_name

_MAX = 64


def validate_match_conditions(path: str, conditions: Sequence[Mapping[str, Any]], *, params: bool = False) -> Errors:
    """`params`: the policy has parameters, which conditions may look at."""
    environment = Environment(params=params)
    errors: Errors = [too_many(path, len(conditions), _MAX)] if len(conditions) > _MAX else []
    seen: set[str] = set()
    for i, condition in enumerate(conditions):
        name, here = condition.get("name", ""), f"{path}[{i}]"
        expression = condition.get("expression", "").strip()
        if expression:
            errors += environment.complaints(f"{here}.expression", expression, "bool")
        else:
            errors.append(required(f"{here}.expression"))
        errors += qualified_name(f"{here}.name", name) if name else [required(f"{here}.name")]
        if name and name in seen:
            errors.append(duplicate(f"{here}.name", name))
        seen.add(name)
    return errors
