"""Values as go-yaml 2 writes them."""

from __future__ import annotations

from typing import Any

import pytest

from setpoint.apiserver.yaml_answers import dump, ordered

WORDS = "a " * 45 + "end"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain words", "plain words"),
        ("", '""'),
        ("n", '"n"'),
        ("null", '"null"'),
        ("<<", '"<<"'),
        ("1e3", '"1e3"'),
        ("1.5e3", '"1.5e3"'),
        ("08", '"08"'),
        ("0o7", '"0o7"'),
        ("1_000", '"1_000"'),
        ("+.inf", '"+.inf"'),
        (".5", '".5"'),
        ("1.2.3", "1.2.3"),
        ("0x1G", "0x1G"),
        ("10:30", '"10:30"'),
        ("2001-01-01", '"2001-01-01"'),
        ("2001-1-2", '"2001-1-2"'),
        ("2001-13-01", "2001-13-01"),
        ("2001-01-01T00:00:00Z", '"2001-01-01T00:00:00Z"'),
        ("2001-01-01T00:00:00", "2001-01-01T00:00:00"),
        ("a: b", "'a: b'"),
        ("- a", "'- a'"),
        ("it's", "it's"),
        ("#a", "'#a'"),
        ("a\tb", '"a\\tb"'),
        ("\u00fc", "\u00fc"),
        ("\U0001f600", '"\\U0001F600"'),
        ("two\nlines", "|-\n  two\n  lines"),
        ("two\nlines\n", "|\n  two\n  lines"),
        ("two\nlines\n\n", "|+\n  two\n  lines\n"),
        (" two\nlines", "|2-\n   two\n  lines"),
        ("two \nlines", '"two \\nlines"'),
        (1.5, "1.5"),
        (1234567.5, "1.2345675e+06"),
        (0.00001, "1e-05"),
        (3, "3"),
        (None, "null"),
        (True, "true"),
        ([], "[]"),
        ({}, "{}"),
        (["a"], "\n- a"),
        (WORDS, f"{'a ' * 39}a\n  a a a a a end"),
        ("\t" + WORDS, f'"\\t{"a " * 37}a\n  a a a a a a a end"'),
    ],
)
def test_values(value: Any, text: str) -> None:
    separator = "" if text.startswith("\n") else " "
    assert dump({"k": value}).decode() == f"k:{separator}{text}\n"


def test_keys_stand_in_natural_order() -> None:
    names = ["k10", "k9", "k", "kB", "k_", "k-1", "k01", "a.b", "ab", "a1", "1", "10", "9", "podIPs", "podIP", ".", "f:a"]
    assert ordered(reversed(names)) == [
        *(".", "1", "9", "10", "a.b", "a1", "ab", "f:a", "k", "k-1", "k_", "k01", "k9", "k10", "kB", "podIP", "podIPs"),
    ]


def test_keys_are_quoted_as_values_are() -> None:
    assert dump({"y": 1, "1": 2, "a: b": 3}).decode() == '"1": 2\n\'a: b\': 3\n"y": 1\n'
