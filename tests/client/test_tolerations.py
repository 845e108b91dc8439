"""Tolerations and taints, as the scheduler and the controllers see them."""

from __future__ import annotations

import pytest

from setpoint.api.types.core_v1 import Taint, Toleration
from setpoint.client.tolerations import tolerates, untolerated


@pytest.mark.parametrize(
    ("key", "operator", "value", "expected"),
    [
        ("load", "", "5", True),
        ("load", "Equal", "6", False),
        ("load", "Exists", "", True),
        ("", "Exists", "", True),
        ("other", "Exists", "", False),
        ("load", "Lt", "6", True),
        ("load", "Gt", "6", False),
        ("load", "Gt", "4", True),
        ("load", "Lt", "many", False),
        ("load", "Near", "5", False),
    ],
)
def test_a_toleration_of_a_taint(key: str, operator: str, value: str, expected: bool) -> None:
    taint = Taint(key="load", value="5", effect="NoSchedule")
    assert tolerates(Toleration(key=key, operator=operator, value=value), taint) is expected
    assert not tolerates(Toleration(key=key, operator=operator, value=value, effect="NoExecute"), taint)


@pytest.mark.parametrize("value", ["007", "1_0", "-0", "9223372036854775808", "\u0667", ""])
def test_only_plain_numbers_are_compared(value: str) -> None:
    taint, limit = Taint(key="load", value=value, effect="NoSchedule"), Toleration(key="load", operator="Gt", value="-1")
    assert not tolerates(limit, taint)
    assert not tolerates(Toleration(key="load", operator="Lt", value=value), Taint(key="load", value="-5", effect="NoSchedule"))


def test_only_what_keeps_pods_away_counts() -> None:
    soft = Taint(key="a", effect="PreferNoSchedule")
    hard = Taint(key="b", effect="NoExecute")
    assert untolerated((), (soft,)) is None
    assert untolerated((), (soft, hard)) is hard
