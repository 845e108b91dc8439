"""What a Scale of a custom object is read from: counts and a selector, at the paths that its definition names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery.patch.json_values import go_print, go_type
from setpoint.api.machinery.status import FieldError, invalid

_COUNTS = range(2**31)


def replicas(obj: Mapping[str, Any], where: str) -> list[FieldError]:
    """The replicas of an object that can be scaled are a count of 32 bits."""
    value, why = _nested(obj, where, int)
    if why:
        return [invalid(where, 0, why)]
    if value is not None and value < 0:
        return [invalid(where, value, "should be a non-negative integer")]
    return [] if value is None or value in _COUNTS else [invalid(where, value, f"should be less than or equal to {2**31 - 1}")]


def selector(obj: Mapping[str, Any], where: str) -> list[FieldError]:
    """The selector of an object that can be scaled is a text."""
    why = _nested(obj, where, str)[1]
    return [invalid(where, "", why)] if why else []


def _nested(obj: Mapping[str, Any], where: str, kind: type) -> tuple[Any, str]:
    """What stands at a path, or why it is not what it should be. Source: apimachinery `unstructured/helpers.go`."""
    steps = where.removeprefix(".").split(".")
    here: Any = obj
    for index, step in enumerate(steps):
        if here is None:
            return None, ""
        if not isinstance(here, Mapping):
            return None, _not_a(steps[: index + 1], here, "map[string]interface{}")
        if step not in here:
            return None, ""
        here = here[step]
    return (here, "") if type(here) is kind else (None, _not_a(steps, here, go_type(kind())))


def _not_a(steps: Sequence[str], found: Any, wanted: str) -> str:
    return f".{'.'.join(steps)} accessor error: {go_print(found)} is of the type {go_type(found)}, expected {wanted}"
