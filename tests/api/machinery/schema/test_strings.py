"""Patterns of schemas are Go's, and matching them always ends."""

from __future__ import annotations

import time

import pytest

from setpoint.api.machinery.schema import strings


def test_nested_repetitions_take_no_time() -> None:
    start = time.monotonic()
    assert not strings.matches("^([a-z0-9]+-?)+$", "a" * 40 + "!")
    assert time.monotonic() - start < 1


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (r"^\p{Lu}$", "\u00c4", "\u00e4"),
        (r"^\Qa.b\E$", "a.b", "axb"),
        ("^a(?i)b$", "aB", "AB"),
        ("^[[:alpha:]]+$", "abc", "ab1"),
        (r"^a\z", "a", "a\n"),
        ("^a$", "a", "a\n"),
        (r"^\x{41}$", "A", "B"),
        (r"^(?P<name>\d+)$", "1", "\u0661"),
    ],
)
def test_patterns_are_read_as_go_reads_them(pattern: str, good: str, bad: str) -> None:
    assert strings.matches(pattern, good)
    assert not strings.matches(pattern, bad)


def test_what_is_no_pattern_accepts_nothing() -> None:
    assert not strings.matches("a(", "a(")
