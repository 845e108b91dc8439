"""Patterns of schemas are Go's, and matching them always ends."""

from __future__ import annotations

import time

import pytest

from setpoint.api.machinery.schema import strings


def test_nested_repetitions_take_no_time() -> None:
    start = time.monotonic()
    assert not strings.matches("^([a-z0-9]+-?)+$", "a" * 40 + "!")
    assert time.monotonic() - start < 10  # a backtracking matcher would take for ever


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


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("ipv4", ("1.2.3.4", "010.1.1.1", "::ffff:1.2.3.4"), ("1.2.3", "::1", "1.2.3.4/8")),
        ("ipv6", ("::1", "::ffff:1.2.3.4"), ("1.2.3.4", "fe80::1%eth0")),
        ("cidr", ("10.0.0.0/8", "10.0.0.0/08", "fe80::/64"), ("10.0.0.0", "10.0.0.0/33", "10.0.0.0/255.0.0.0")),
        ("mac", ("01:02:03:04:05:06", "0102.0304.0506", "01-02-03-04-05-06-07-08"), ("01:02-03:04:05:06", "01:02:03")),
        ("byte", ("YQ==",), ("", "YQ", "***")),
        ("date-time", ("2020-01-01T00:00:00Z", "2020-01-01t00:00:00.5+01:00"), ("2020-01-01T00:00:00", "2020-13-01T00:00:00Z")),
        ("duration", ("1h30m", "1.5h", "2 days 3 hours", "1d", "0"), ("3 foo", "10", "")),
        ("hostname", ("localhost", "x.example", "a-b", "a-b.c-d.com"), ("my-host", "a.b", "a_b.com", "1.2.3.4", "x.example.")),
        ("email", ("a@b", "Bob <a@b.c>", '"a b"@c'), ("a..b@c", "a@b..c", "@b", "a@", "a b@c", "")),
        ("uri", ("http://a/b", "/a", "mailto:a@b", "http://[::1]:80/", "http://a/b c"), ("a/b", "http://a b/", "::", "/%zz", "")),
        ("k8s-short-name", ("a-b",), ("A", "a.b")),
        ("hex-color", ("#fff",), ("red",)),
    ],
)
def test_formats(kind: str, good: tuple[str, ...], bad: tuple[str, ...]) -> None:
    assert [word for word in good if not strings.fits(kind, word)] == []
    assert [word for word in bad if strings.fits(kind, word)] == []


def test_addresses_of_many_words_take_no_time() -> None:
    start = time.monotonic()
    assert not strings.fits("email", "a" * 200 + " ")
    assert time.monotonic() - start < 10  # a backtracking matcher would take for ever
