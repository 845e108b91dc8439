"""What ratcheting takes for unchanged."""

from __future__ import annotations

from typing import Any

import pytest

from setpoint.api.machinery.schema.unchanged import unchanged

_A = {"type": "object", "properties": {"a": {"type": "integer"}}}
_MAP = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"], "items": _A}


@pytest.mark.parametrize(
    ("schema", "new", "old", "same"),
    [
        (_A, {"a": 1}, {"a": 1}, True),
        (_A, {"a": 1}, {"a": 1.0}, False),
        (_A, {"a": None}, {"a": None}, True),
        (_A, {"a": 1, "kept": 1}, {"a": 1, "kept": 1}, False),
        (_A, {"a": 1}, {"a": 1, "b": 1}, False),
        ({"additionalProperties": _A}, {"k": {"a": 1}}, {"k": {"a": 1}}, True),
        ({"additionalProperties": True}, {"k": 1}, {"k": 1}, False),
        (_MAP, [{"a": 1}, {"a": 2}], [{"a": 2}, {"a": 1}], True),
        (_MAP, [{"a": 1}], [{"a": 2}], False),
        ({"items": _A}, [{"a": 1, "kept": 1}], [{"a": 1, "kept": 1}], True),
        ({"items": _A}, [{"a": 1}, {"a": 2}], [{"a": 2}, {"a": 1}], False),
        ({}, [], [], True),
        ({}, "x", ["x"], False),
    ],
)
def test_a_value(schema: dict[str, Any], new: Any, old: Any, same: bool) -> None:
    assert unchanged(new, old, schema) is same
