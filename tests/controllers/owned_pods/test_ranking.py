from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from setpoint.controllers.owned_pods.ranking import DELETION_COST, compare, deletion_cost, pods_to_delete
from setpoint.testing.objects import NOW, pod

NOBODY: Counter[str] = Counter()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"node": ""}, {"node": "n", "phase": "Pending"}),
        ({"phase": "Pending", "ready_since": 5}, {"phase": "Unknown"}),
        ({"phase": "Unknown"}, {"phase": "Running"}),
        ({}, {"ready_since": 5}),
        ({"ready_since": 50, "annotations": {DELETION_COST: "-5"}}, {"ready_since": 5}),
        ({"ready_since": 5}, {"ready_since": 50}),
        ({"restarts": 3}, {"restarts": 1}),
        ({"age": 10}, {"age": 1000}),
    ],
)
def test_each_rule_in_turn(first: dict[str, Any], second: dict[str, Any]) -> None:
    a, b = pod("a", **first), pod("b", **second)
    assert compare(a, b, NOBODY, NOW) < 0
    assert compare(b, a, NOBODY, NOW) > 0


def test_a_doubled_up_node_gives_first() -> None:
    lone, double, twin = pod("lone", node="x"), pod("double", node="y"), pod("twin", node="y")
    assert pods_to_delete([lone, double], [lone, double, twin], 1, NOW) == (double,)


def test_cost_counts_before_doubling() -> None:
    lone, double = pod("lone", node="x"), pod("double", node="y", annotations={DELETION_COST: "10"})
    assert pods_to_delete([lone, double], [lone, double, pod("twin", node="y")], 1, NOW) == (lone,)


def test_pods_that_ended_do_not_double_a_node_up() -> None:
    a, b = pod("a", node="x", restarts=1), pod("b", node="y")
    done = pod("done", node="y", phase="Succeeded")
    assert pods_to_delete([a, b], [a, b, done], 1, NOW) == (a,)


def test_ages_of_one_magnitude_are_told_apart_by_uid() -> None:
    young, old = pod("z", ready_since=70), pod("a", ready_since=100)
    assert compare(young, old, NOBODY, NOW) > 0, "70 s and 100 s are of one power of two in nanoseconds"
    assert compare(pod("z", ready_since=10), old, NOBODY, NOW) < 0


def test_all_are_taken_without_ranking() -> None:
    pods = [pod("a"), pod("b")]
    assert pods_to_delete(pods, [], 5, NOW) == tuple(pods)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("-5", -5),
        ("0", 0),
        ("+5", 0),
        ("05", 0),
        ("x", 0),
        ("", 0),
        ("-", 0),
        ("2147483648", 0),
        ("2147483647", 2147483647),
    ],
)
def test_deletion_cost_is_a_plain_int32(text: str, value: int) -> None:
    assert deletion_cost(pod("a", annotations={DELETION_COST: text})) == value
