"""What is remembered of new objects depends on their names, and on what is written anyway, but on no other value."""

from __future__ import annotations

from typing import Any

import pytest

from setpoint.api.machinery.fields import forms
from setpoint.api.machinery.schema.node import Node

START: dict[str, Any] = {"kind": "Event", "message": "", "source": {}, "metadata": {"creationTimestamp": None}}
EVENT: dict[str, Any] = {"kind": "Event", "message": "hello", "source": {"component": "a"}, "metadata": {"name": "x"}}


def times_made(*objects: dict[str, Any]) -> int:
    made: list[int] = []
    node = Node("object")
    for obj in objects:
        forms.remembered(node, (), START, obj, lambda: made.append(1) or {})  # type: ignore[func-returns-value]  # append gives None
    return len(made)


def test_values_make_no_difference() -> None:
    other = {**EVENT, "message": "another", "source": {"component": "b"}, "metadata": {"name": "y"}}
    assert times_made(EVENT, other) == 1


@pytest.mark.parametrize(
    "other",
    [
        {**EVENT, "message": ""},
        {**EVENT, "source": {"host": "a"}},
        {**EVENT, "source": "a"},
        {**EVENT, "metadata": {"name": "x", "labels": {}}},
        {**EVENT, "reason": "r"},
    ],
    ids=["said anyway", "another name", "no map", "one more below", "one more"],
)
def test_forms_are_told_apart(other: dict[str, Any]) -> None:
    assert times_made(EVENT, other) == 2


def test_lists_are_looked_at_each_time() -> None:
    listed = {**EVENT, "related": [{"name": "a"}]}
    assert times_made(listed, listed) == 2
