"""Conditions of the common form."""

from __future__ import annotations

from typing import Any

from setpoint.registry.conditions import validate_conditions

GOOD: dict[str, Any] = {"type": "Ready", "status": "True", "reason": "Because", "lastTransitionTime": "2024-01-01T00:00:00Z"}


def test_conditions_are_complete_and_each_type_stands_once() -> None:
    assert validate_conditions("c", [GOOD, {**GOOD, "type": "x.example/Other"}]) == []
    odd: list[dict[str, Any]] = [GOOD, {**GOOD, "observedGeneration": -1, "reason": "not so"}, {"type": "A", "status": "Maybe"}]
    assert [str(error).split(" (e.g.")[0] for error in validate_conditions("c", odd)] == [
        'c[1].type: Duplicate value: "Ready"',
        "c[1].observedGeneration: Invalid value: -1: must be greater than or equal to zero",
        (
            'c[1].reason: Invalid value: "not so": a condition reason must start with alphabetic character, optionally followed'
            " by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'"
        ),
        'c[2].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
        "c[2].lastTransitionTime: Required value: must be set",
        "c[2].reason: Required value: must be set",
    ]
