from __future__ import annotations

import copy
from collections import deque
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.api.machinery.patch import json_patch, merge
from setpoint.api.machinery.status import StatusError

SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab/~", max_size=3)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc/~", max_size=2), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text("abc", max_size=2), JSON, max_size=4)


def op(name: str, path: str, **more: Any) -> dict[str, Any]:
    return {"op": name, "path": path, **more}


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ([op("add", "/n", value=1)], {"a": [1, 2, 3], "m": {"x": "y"}, "n": 1}),
        ([op("add", "/a/1", value=9)], {"a": [1, 9, 2, 3], "m": {"x": "y"}}),
        ([op("add", "/a/-", value=9)], {"a": [1, 2, 3, 9], "m": {"x": "y"}}),
        ([op("add", "/a/-1", value=9)], {"a": [1, 2, 3, 9], "m": {"x": "y"}}),
        ([op("remove", "/a/-2")], {"a": [1, 3], "m": {"x": "y"}}),
        ([op("replace", "/a/-1", value=9)], {"a": [1, 2, 9], "m": {"x": "y"}}),
        ([op("replace", "/m/new", value=9)], {"a": [1, 2, 3], "m": {"x": "y", "new": 9}}),
        ([op("copy", "/m/z", **{"from": "/m/nope"})], {"a": [1, 2, 3], "m": {"x": "y", "z": None}}),
        ([op("move", "/m/z", **{"from": "/m/x"})], {"a": [1, 2, 3], "m": {"z": "y"}}),
        ([op("add", "/m/q")], {"a": [1, 2, 3], "m": {"x": "y", "q": None}}),
        ([op("add", "/m/a~1b~0", value=1)], {"a": [1, 2, 3], "m": {"x": "y", "a/b~": 1}}),
        ([op("copy", "/b", **{"from": "/a"}), op("add", "/b/-", value=4)], {"a": [1, 2, 3], "m": {"x": "y"}, "b": [1, 2, 3, 4]}),
        ([op("test", "/m/nope", value=None), op("test", "/m", value={"x": "y"})], {"a": [1, 2, 3], "m": {"x": "y"}}),
        ([op("replace", "", value={"r": 1})], {"r": 1}),
        ([], {"a": [1, 2, 3], "m": {"x": "y"}}),
        (None, {"a": [1, 2, 3], "m": {"x": "y"}}),
    ],
)
def test_operations(operations: Any, expected: dict[str, Any]) -> None:
    document: dict[str, Any] = {"a": [1, 2, 3], "m": {"x": "y"}}
    before = copy.deepcopy(document)
    assert json_patch.apply(document, operations) == expected
    assert document == before


@pytest.mark.parametrize(
    "operation",
    [
        op("remove", "/nope"),
        op("add", "/nope/x", value=1),
        op("replace", "/nope/x", value=1),
        op("move", "/y", **{"from": "/nope"}),
        op("test", "/m/x", value="z"),
        op("test", "/a/0", value=True),
        op("test", "/a/0", value=1.0),
        op("add", "/a/9", value=1),
        op("add", "/a/one", value=1),
        op("remove", "/a/-"),
        op("remove", "/a/3"),
        op("upsert", "/a", value=1),
        {"path": "/a"},
        {"op": "add", "value": 1},
        op("copy", "/q"),
        op("replace", "", value="x"),
        op("add", "", value={}),
        None,
    ],
)
def test_what_does_not_apply_is_one_422(operation: Any) -> None:
    with pytest.raises(StatusError) as caught:
        json_patch.apply({"a": [1, 2, 3], "m": {"x": "y"}}, [operation])
    assert caught.value.code == 422
    assert caught.value.reason == "Invalid"
    assert caught.value.message == "the server rejected our request due to an error in our request"
    assert caught.value.status()["details"] == {}


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({}, 400, "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        (["x"], 400, "error decoding patch: json: cannot unmarshal string into Go value of type handlers.jsonPatchOp"),
        (
            [{"op": 5}],
            400,
            "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
        ),
        (
            [op("test", "/a")] * 10_001,
            413,
            "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
        ),
    ],
)
def test_what_is_no_patch(body: Any, code: int, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        json_patch.apply({}, body)
    assert (caught.value.code, caught.value.message) == (code, message)


def test_copies_do_not_multiply_without_end() -> None:
    document = {"a": ["x" * 1000]}
    doubling = [op("copy", "/a/-", **{"from": "/a"})] * 40
    with pytest.raises(StatusError):
        json_patch.apply(document, doubling)


@given(OBJECTS, JSON)
def test_add_then_remove_gives_back_the_document(document: dict[str, Any], value: Any) -> None:
    """RFC 6902, 4.1 and 4.2."""
    added = json_patch.apply(document, [op("add", "/new~1key", value=value), op("test", "/new~1key", value=value)])
    assert json_patch.apply(added, [op("remove", "/new~1key")]) == document


@pytest.mark.parametrize(
    ("target", "patch", "expected"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({}, {"a": [{"b": None}, None]}, {"a": [{}, None]}),
    ],
)
def test_merge_patch(target: dict[str, Any], patch: dict[str, Any], expected: dict[str, Any]) -> None:
    """RFC 7386, appendix A; the last case is evanphx/json-patch's."""
    before = copy.deepcopy(target)
    assert merge.apply(target, patch) == expected
    assert target == before


def test_merge_patches_that_are_no_objects() -> None:
    with pytest.raises(StatusError, match=r"^Invalid JSON Patch$"):
        merge.apply({}, None)
    with pytest.raises(StatusError, match=r"^error decoding patch: json: cannot unmarshal array into Go value of type map"):
        merge.apply({}, [])


@given(OBJECTS, OBJECTS)
def test_a_diff_makes_the_new_of_the_old(old: dict[str, Any], new: dict[str, Any]) -> None:
    old, new = merge.without_nulls(old), merge.without_nulls(new)
    assert merge.apply(old, merge.diff(old, new)) == new
    assert merge.diff(new, new) == {}


def full_lists(value: Any) -> Any:
    """A patch whose lists hold no nulls: evanphx/json-patch keeps those the first time and drops them the second."""
    if isinstance(value, dict):
        return {key: full_lists(item) for key, item in value.items()}
    return merge.without_nulls(value)


@given(OBJECTS, OBJECTS.map(full_lists))
def test_a_merge_patch_twice_is_one(document: dict[str, Any], patch: dict[str, Any]) -> None:
    before = orjson.dumps(document)
    once = merge.apply(document, patch)
    assert merge.apply(once, patch) == once
    assert orjson.dumps(document) == before


def test_copies_of_all_steps_count_together() -> None:
    doubling = [{"op": "copy", "from": "/a", "path": "/a/-"}] * 60
    steps = json_patch.stepwise({"a": ["x" * 1000]}, doubling)
    with pytest.raises(StatusError):
        deque(steps, maxlen=0)
