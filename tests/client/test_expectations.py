from __future__ import annotations

from setpoint.client.expectations import Expectations
from setpoint.kit.clock import VirtualClock


def test_creations_are_counted_down() -> None:
    expectations = Expectations(VirtualClock())
    assert expectations.satisfied("a")
    expectations.expect_creations("a", 2)
    expectations.creation_observed("a")
    assert not expectations.satisfied("a")
    expectations.creation_observed("a")
    assert expectations.satisfied("a")


def test_a_deletion_seen_twice_counts_once() -> None:
    expectations = Expectations(VirtualClock())
    expectations.expect_deletions("a", ["u1", "u2"])
    expectations.deletion_observed("a", "u1")
    expectations.deletion_observed("a", "u1")
    assert not expectations.satisfied("a")
    expectations.deletion_observed("a", "u2")
    assert expectations.satisfied("a")


def test_five_minutes_without_news_are_enough() -> None:
    clock = VirtualClock()
    expectations = Expectations(clock)
    expectations.expect_creations("a", 1)
    clock.jump(301)
    assert expectations.satisfied("a")
    expectations.expect_creations("a", 1)
    assert not expectations.satisfied("a")
