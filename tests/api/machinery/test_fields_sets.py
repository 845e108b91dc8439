from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.api.machinery.fields import sets
from setpoint.api.machinery.fields.sets import Set

Path = tuple[str, ...]
PATHS = st.lists(st.lists(st.sampled_from(["f:a", "f:b", 'k:{"n":"x"}', 'v:"y"']), min_size=1, max_size=4).map(tuple), max_size=6)


def made(paths: list[Path]) -> Set:
    """A set from paths, the slow and obvious way."""
    tree: dict[str, Any] = {}
    for path in paths:
        node = tree
        for name in path:
            node = node.setdefault(name, {})
        node["."] = {}
    return tidy(tree)


def tidy(tree: dict[str, Any]) -> dict[str, Any]:
    return {name: {} if set(child) == {"."} else tidy(child) if name != "." else {} for name, child in tree.items()}


def members(found: Set, prefix: Path = ()) -> set[Path]:
    out: set[Path] = set()
    for name, child in found.items():
        if name == ".":
            continue
        if sets.member(child):
            out.add((*prefix, name))
        out |= members(child, (*prefix, name))
    return out


@given(PATHS, PATHS)
def test_operations_are_those_of_sets_of_paths(left: list[Path], right: list[Path]) -> None:
    a, b = made(left), made(right)
    assert members(a) == set(left)
    assert members(sets.union(a, b)) == set(left) | set(right)
    assert members(sets.difference(a, b)) == set(left) - set(right)
    assert members(sets.intersection(a, b)) == set(left) & set(right)
    gone = {path for path in left if any(path[: len(other)] == other for other in right)}
    assert members(sets.without(a, b)) == set(left) - gone
    assert (members(a), members(b)) == (set(left), set(right)), "operands are never changed"


@given(PATHS, PATHS)
def test_no_empty_elements_are_left(left: list[Path], right: list[Path]) -> None:
    """An element without anything below it would read as a member."""

    def check(found: Set) -> None:
        for name, child in found.items():
            assert set(child) != {"."}
            if name == ".":
                assert child == {}
            check(child)

    for operation in (sets.union, sets.difference, sets.intersection, sets.without):
        check(operation(made(left), made(right)))


def test_operations_without_effect_give_their_operand() -> None:
    a, b = made([("f:a",), ("f:b", "f:c")]), made([("f:a",)])
    assert sets.union(a, b) is a
    assert sets.difference(a, made([("f:z",)])) is a
    assert sets.without(a, made([("f:b", "f:z")])) is a


def test_elements() -> None:
    assert sets.key({"protocol": "TCP", "containerPort": 80}) == 'k:{"containerPort":80,"protocol":"TCP"}'
    assert sets.scalar("x.io/<f>") == 'v:"x.io/\\u003cf\\u003e"'


def test_paths_are_members_first_then_what_is_below_in_order_of_values() -> None:
    found = made(
        [
            ("f:spec", "f:ports", 'k:{"port":443}'),
            ("f:spec", "f:ports", 'k:{"port":80}', "f:name"),
            ("f:spec", "f:z"),
            ("f:spec", "f:set", 'v:"a b"'),
            ("f:data",),
        ]
    )
    assert list(sets.paths(found)) == [
        ".data",
        ".spec.z",
        ".spec.ports[port=443]",
        ".spec.ports[port=80].name",
        '.spec.set[="a b"]',
    ]


def test_what_clients_send() -> None:
    assert sets.parse({"f:a": {".": {}, "f:b": {}}, "x:future": {}}) == {"f:a": {".": {}, "f:b": {}}}
    assert sets.parse(None) == {}


@pytest.mark.parametrize("bad", [{"f": {}}, {"fa": {}}, {"k:{": {}}, {"f:a": 1}, []])
def test_what_is_no_set(bad: Any) -> None:
    with pytest.raises(sets.NotASet):
        sets.parse(bad)
