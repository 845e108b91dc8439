"""Conditions of a certificate signing request: the two verdicts, and others.

Source: `pkg/apis/certificates/validation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.status import duplicate, invalid, not_supported, required
from setpoint.registry.fields import Errors
from setpoint.registry.strategy import Object

VERDICTS = ("Approved", "Denied")
_STATUSES = ("False", "True", "Unknown")

Condition = Mapping[str, Any]


class Leniency(Struct, frozen=True):
    """What is not complained about, because the object had it already."""

    unknown_usages: bool = False
    repeated_usages: bool = False
    legacy_signer: bool = False
    both_verdicts: bool = False
    repeated_conditions: bool = False
    nameless_conditions: bool = False
    any_certificate: bool = False


def of_type(obj: Object, kind: str) -> list[Condition]:
    return [one for one in (obj.get("status") or {}).get("conditions") or () if one.get("type") == kind]


def count_of(obj: Object, kind: str) -> int:
    return len(of_type(obj, kind))


def validate_conditions(path: str, obj: Object, leniency: Leniency) -> Errors:
    errors: Errors = []
    seen: list[str] = []
    for i, condition in enumerate((obj.get("status") or {}).get("conditions") or ()):
        kind, status = condition.get("type", ""), condition.get("status", "")
        if not kind and not leniency.nameless_conditions:
            errors.append(required(f"{path}[{i}].type"))
        allowed = ("True",) if kind in {*VERDICTS, "Failed"} else _STATUSES
        if not status:
            errors.append(required(f"{path}[{i}].status"))
        elif status not in allowed:
            errors.append(not_supported(f"{path}[{i}].status", status, allowed))
        other = {"Approved": "Denied", "Denied": "Approved"}.get(kind)
        if other in seen and not leniency.both_verdicts:
            errors.append(invalid(path, kind, "Approved and Denied conditions are mutually exclusive"))
        if kind in seen and not leniency.repeated_conditions:
            errors.append(duplicate(f"{path}[{i}].type", kind))
        seen.append(kind)
    return errors
