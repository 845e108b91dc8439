"""The slow reader of JSON: what a strict reader takes is read by another way than the rest, with the same outcome."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.api.machinery import gojson
from setpoint.api.machinery.gojson import Members, Number, SyntaxComplaint

_LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
_VALUES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
)


def outcome(read: Any, body: bytes) -> Any:
    """What a reader makes of a text, types and order included, or its complaint."""

    def shape(value: Any) -> Any:
        if isinstance(value, Members):
            return [(name, shape(inner)) for name, inner in value]
        return [type(value).__name__, *map(shape, value)] if isinstance(value, list) else (type(value).__name__, value)

    try:
        return shape(read(body))
    except SyntaxComplaint as complaint:
        return str(complaint)


@given(_VALUES, st.booleans(), st.integers(0, 100), st.binary(max_size=3))
def test_both_ways_come_to_the_same(value: Any, ascii_only: bool, at: int, other: bytes) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    for body in (text, text[:at] + other + text[at:], text[:at] + text[at + len(other) :]):
        assert outcome(gojson.parse, body) == outcome(gojson.scan, body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{} {}",
        b'{"a": 1, "a": 1e2, "b": -0, "c": 123456789012345678901234567890}',
        b'"\\ud800"',
        b'"\\ud83d\\ude00"',
        b'"\xff"',
        b"\xef\xbb\xbf{}",
        b"1e999",
        b"NaN",
        b"-Infinity",
        b'"[[[[\\"{{{{\\\\"',
    ],
)
def test_texts_that_readers_disagree_about(body: bytes) -> None:
    assert outcome(gojson.parse, body) == outcome(gojson.scan, body)


def test_repeated_names_and_numbers_are_kept_as_they_are_written() -> None:
    value = gojson.parse(b'{"a": 1.0, "a": [1E+2]}')
    assert value == [("a", "1.0"), ("a", ["1E+2"])]
    assert isinstance(value, Members)
    assert isinstance(value[0][1], Number)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_what_is_nested_too_deeply_is_refused(opening: str, closing: str) -> None:
    levels = opening.count("[") + opening.count("{")

    def nested(depth: int) -> bytes:
        return (opening * (depth // levels) + "1" + closing * (depth // levels)).encode()

    gojson.parse(nested(gojson.MAX_DEPTH))
    with pytest.raises(SyntaxComplaint, match="exceeded max depth"):
        gojson.parse(nested(gojson.MAX_DEPTH + 2))
