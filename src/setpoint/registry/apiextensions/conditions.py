"""Conditions of CustomResourceDefinitions. Source: `pkg/apis/apiextensions/helpers.go`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.kit.clock import rfc3339

Condition = Mapping[str, Any]


def with_condition(conditions: Sequence[Condition] | None, new: Condition, now: float) -> list[Condition]:
    """The conditions with one set; its transition is now, unless its status was the same before."""
    out, found = [], False
    for condition in conditions or ():
        if condition.get("type") != new["type"]:
            out.append(condition)
            continue
        found = True
        same = condition.get("status") == new["status"]
        out.append({"lastTransitionTime": condition.get("lastTransitionTime") if same else rfc3339(now), **new})
    return out if found else [*out, {"lastTransitionTime": rfc3339(now), **new}]


def is_true(definition: Mapping[str, Any], kind: str) -> bool:
    """Whether a definition has a condition."""
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return any(one.get("type") == kind and one.get("status") == "True" for one in conditions)
