r"""Sets of field paths, in the form in which the API writes them (`fieldsV1`).

A set is a dict from path elements to sets: `f:name` a field, `k:{"name":"a"}` an item of a keyed list, `v:"x"` an item of a set,
`.` the parent itself. An element that maps to `{}` is a member and has nothing below; one with a `.` is a member and has.

    {"f:spec": {"f:replicas": {}, "f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:image": {}}}}}

owns `.spec.replicas`, `.spec.containers[name="a"]` and its image, but neither `.spec` nor `.spec.containers` as such.
Sets are never changed once made, so results share parts with operands; an operation without effect gives its operand back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

Set = dict[str, Any]

EMPTY: Set = {}
SELF = "."
#: the set of one member without children, as a child
LEAF: Set = {}


class NotASet(ValueError):
    """What a client sent is no set of fields."""


def field(name: str) -> str:
    return f"f:{name}"


def scalar(value: Any) -> str:
    """The path element of an item of a set."""
    return f"v:{_json(value)}"


def key(values: Mapping[str, Any]) -> str:
    """The path element of an item of a keyed list; names are sorted."""
    return f"k:{{{','.join(f'{_json(name)}:{_json(values[name])}' for name in sorted(values))}}}"


def _json(value: Any) -> str:
    """Compact JSON as Go writes it: the three HTML letters escaped."""
    text = orjson.dumps(value).decode()
    if "<" in text or ">" in text or "&" in text:
        text = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return text


def member(child: Set) -> bool:
    """Whether the element that maps to `child` is itself in the set."""
    return not child or SELF in child


def _node(own: bool, below: Set) -> Set | None:
    """The child of an element: None if there is nothing left of it."""
    if not below:
        return LEAF if own else None
    return {SELF: LEAF, **below} if own else below


def below(child: Set) -> Set:
    """What an element has below it, without itself."""
    return {name: value for name, value in child.items() if name != SELF} if SELF in child else child


def union(left: Set, right: Set) -> Set:
    if not right or left is right:
        return left
    if not left:
        return right
    merged: Set | None = None
    for name, theirs in right.items():
        mine = left.get(name)
        if mine is None:
            both = theirs
        elif mine is theirs or name == SELF:
            continue
        else:
            both = _union_child(mine, theirs)
            if both is mine:
                continue
        if merged is None:
            merged = dict(left)
        merged[name] = both
    return left if merged is None else merged


def _union_child(mine: Set, theirs: Set) -> Set:
    if not theirs:
        return mine if not mine or SELF in mine else {SELF: LEAF, **mine}
    if not mine:
        return theirs if SELF in theirs else {SELF: LEAF, **theirs}
    return union(mine, theirs)


def difference(left: Set, right: Set) -> Set:
    """Members of `left` that are not members of `right`; a parent stays when a child goes, and the other way round."""
    if not left or not right:
        return left
    result: Set | None = None
    small, large = (right, left) if len(right) < len(left) else (left, right)
    for name in small:
        if name == SELF or name not in large:
            continue
        mine = left[name]
        rest = _difference_child(mine, right[name])
        if rest is mine:
            continue
        if result is None:
            result = dict(left)
        if rest is None:
            del result[name]
        else:
            result[name] = rest
    return left if result is None else result


def _difference_child(mine: Set, theirs: Set) -> Set | None:
    own = member(mine)
    kept = own and not member(theirs)
    rest = difference(mine, theirs)  # which leaves `.` alone
    return mine if kept is own and rest is mine else _node(kept, below(rest))


def without(left: Set, right: Set) -> Set:
    """`left` less the members of `right` and everything below them (`RecursiveDifference`)."""
    if not left or not right:
        return left
    result: Set | None = None
    for name, theirs in right.items():
        mine = left.get(name)
        if mine is None or name == SELF:
            continue
        rest = None if member(theirs) else _without_child(mine, theirs)
        if rest is mine:
            continue
        if result is None:
            result = dict(left)
        if rest is None:
            del result[name]
        else:
            result[name] = rest
    return left if result is None else result


def _without_child(mine: Set, theirs: Set) -> Set | None:
    inner = below(mine)
    rest = without(inner, theirs)
    return mine if rest is inner else _node(member(mine), rest)


def intersection(left: Set, right: Set) -> Set:
    result: Set = {}
    small, large = (left, right) if len(left) <= len(right) else (right, left)
    for name in small:
        if name == SELF or name not in large:
            continue
        mine, theirs = left[name], right[name]
        rest = _node(member(mine) and member(theirs), intersection(below(mine), below(theirs)))
        if rest is not None:
            result[name] = rest
    return result


def of_path(path: tuple[str, ...]) -> Set:
    """The set of one path of field names."""
    made: Set = LEAF
    for name in reversed(path):
        made = {field(name): made}
    return made


def of_paths(paths: tuple[tuple[str, ...], ...]) -> Set:
    made: Set = EMPTY
    for path in paths:
        made = union(made, of_path(path))
    return made


def parse(tree: Any) -> Set:
    """A set that a client sent. Elements of unknown kinds are dropped; NotASet for what is none."""
    if tree is None:
        return EMPTY
    if not isinstance(tree, dict):
        raise NotASet("not a set of fields")
    parsed: Set = {}
    for name, child in tree.items():
        if name == SELF:
            parsed[name] = LEAF
        elif len(name) < 2 or name[1] != ":":
            raise NotASet(f"missing colon: {name}")
        elif name[0] in "fkvi":
            if name[0] in "kv":
                _check_json(name[2:])
            parsed[name] = parse(child)
    return parsed


def _check_json(text: str) -> None:
    try:
        json.loads(text)
    except ValueError as error:
        raise NotASet(str(error)) from error


# --- paths as messages print them ---


def paths(found: Set, prefix: str = "") -> Iterator[str]:
    """Every member as `.spec.containers[name="a"].image`: members first, then what is below them, in order."""
    ordered = sorted((name for name in found if name != SELF), key=_order)
    for name in ordered:
        if member(found[name]):
            yield prefix + _text(name)
    for name in ordered:
        yield from paths(found[name], prefix + _text(name))


def _order(name: str) -> tuple[int, Any]:
    kind, rest = name[0], name[2:]
    if kind == "f":
        return 0, rest
    value = json.loads(rest)
    if kind == "k":
        return 1, [(one, *_rank(value[one])) for one in sorted(value)]
    return (2, _rank(value)) if kind == "v" else (3, value)


def _rank(value: Any) -> tuple[int, Any]:
    """Numbers before texts before booleans, as values are ordered."""
    if isinstance(value, bool):
        return 2, value
    return (0, value) if isinstance(value, (int, float)) else (1, str(value))


def _text(name: str) -> str:
    kind, rest = name[0], name[2:]
    if kind == "f":
        return f".{rest}"
    if kind == "k":
        values = json.loads(rest)
        return f"[{','.join(f'{one}={_value(values[one])}' for one in sorted(values))}]"
    return f"[={_value(json.loads(rest))}]" if kind == "v" else f"[{rest}]"


def text(name: str) -> str:
    """One path element as messages print it."""
    return _text(name)


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
