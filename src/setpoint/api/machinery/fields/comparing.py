"""What a write changed: the sets of added, modified and removed fields.

Only what differs is walked, so a status patch costs what its status costs. What a new object sets is kept by its JSON: pods of
one template share a set. Source: structured-merge-diff `typed/compare.go`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from setpoint.api.machinery.fields import sets
from setpoint.api.machinery.fields.sets import LEAF as MEMBER
from setpoint.api.machinery.fields.sets import SELF, Set
from setpoint.api.machinery.fields.shape import FREE, KEYED, LEAF, MAP, SET, UNKNOWN, WHOLE, Shape

#: added, modified and removed fields below one path; None where there are none
Changes = tuple[Set | None, Set | None, Set | None]

_SAME: Changes = (None, None, None)
_MODIFIED: Changes = (None, MEMBER, None)


class Unfit(ValueError):
    """A value is not of the type that its schema says: what a client sent, before it is found invalid."""


class Comparison:
    """The changes of a whole object."""

    __slots__ = ("added", "modified", "removed")

    def __init__(self, added: Set, modified: Set, removed: Set) -> None:
        self.added = added
        self.modified = modified
        self.removed = removed

    @property
    def same(self) -> bool:
        return not (self.added or self.modified or self.removed)

    @property
    def taken(self) -> Set:
        """Fields that have a new value."""
        return sets.union(self.modified, self.added)

    def excluding(self, ignored: Set) -> Comparison:
        """Without the fields that the endpoint cannot change."""
        if not ignored:
            return self
        return Comparison(
            sets.without(self.added, ignored), sets.without(self.modified, ignored), sets.without(self.removed, ignored)
        )


def compare(shape: Shape, old: dict[str, Any], new: dict[str, Any]) -> Comparison:
    """Changes from `old` to `new`. Raises Unfit."""
    added, modified, removed = _maps(shape, old, new) if old != new else _SAME
    return Comparison(added or {}, modified or {}, removed or {})


def _values(shape: Shape, old: Any, new: Any) -> Changes:
    """Two values that are both there, and differ."""
    mode = shape.mode
    if mode == LEAF:
        return _MODIFIED
    if mode == FREE:
        return _free(old, new)
    if not old and not new:
        return _MODIFIED
    kind = dict if mode == MAP else list
    if not (isinstance(new or old, kind) and isinstance(old or new, kind)):
        raise Unfit
    return _maps(shape, old or {}, new or {}) if mode == MAP else _lists(shape, old or [], new or [])


def _free(old: Any, new: Any) -> Changes:
    """Values of any type: a map is compared by key, a change of type is the value and what is below the map."""
    if isinstance(old, dict) and isinstance(new, dict):
        return _maps(UNKNOWN, old, new) if old and new else _emptied(old, new)
    if isinstance(new, dict) and new:
        return _items(new), MEMBER, None
    if isinstance(old, dict) and old:
        return None, MEMBER, _items(old)
    return _MODIFIED


def _emptied(old: dict[str, Any], new: dict[str, Any]) -> Changes:
    return (_items(new), None, None) if new else (None, None, _items(old))


def _items(value: dict[str, Any]) -> Set:
    return {sets.field(name): whole(UNKNOWN, item) for name, item in value.items()}


def _maps(shape: Shape, old: dict[str, Any], new: dict[str, Any]) -> Changes:
    added: Set = {}
    modified: Set = {}
    removed: Set = {}
    for name in sorted(new):
        value = new[name]
        if name not in old:
            added[f"f:{name}"] = whole(shape.field(name) or WHOLE, value)
            continue
        before = old[name]
        if before is value or (before == value and type(before) is type(value)):
            continue
        more, other, less = _values(shape.field(name) or WHOLE, before, value)
        path = f"f:{name}"
        if more is not None:
            added[path] = more
        if other is not None:
            modified[path] = other
        if less is not None:
            removed[path] = less
    for name, value in old.items():
        if name not in new:
            removed[f"f:{name}"] = whole(shape.field(name) or WHOLE, value)
    return added or None, modified or None, removed or None


def _lists(shape: Shape, old: list[Any], new: list[Any]) -> Changes:
    added: Set = {}
    modified: Set = {}
    removed: Set = {}
    before, after = indexed(shape, old), indexed(shape, new)
    for path, theirs in after.items():
        mine = before.get(path, ())
        more, other, less = _duplicates(shape, mine, theirs) if len(mine) > 1 or len(theirs) > 1 else _one(shape, mine, theirs)
        if more is not None:
            added[path] = more
        if other is not None:
            modified[path] = other
        if less is not None:
            removed[path] = less
    for path, mine in before.items():
        if path not in after:
            removed[path] = MEMBER if len(mine) > 1 else whole(_item(shape), mine[0])
    return added or None, modified or None, removed or None


def _one(shape: Shape, mine: list[Any] | tuple[()], theirs: list[Any]) -> Changes:
    if not mine:
        return whole(_item(shape), theirs[0]), None, None
    if mine[0] is theirs[0] or mine[0] == theirs[0]:
        return _SAME
    return _values(_item(shape), mine[0], theirs[0])


def _duplicates(shape: Shape, mine: list[Any] | tuple[()], theirs: list[Any]) -> Changes:
    """Items of one key that stand in a list more than once are owned together, as one mark."""
    if len(mine) > 1 and len(theirs) > 1:
        return _SAME if list(mine) == theirs else _MODIFIED
    if len(mine) > 1:
        return whole(_item(shape), theirs[0]), None, MEMBER
    return MEMBER, None, whole(_item(shape), mine[0]) if mine else None


def _item(shape: Shape) -> Shape:
    return shape.item or WHOLE


def indexed(shape: Shape, items: list[Any]) -> dict[str, list[Any]]:
    """The items of a list by path element, in order; items that can have none are left out."""
    found: dict[str, list[Any]] = {}
    for item in items:
        try:
            path = shape.element(item)
        except ValueError:
            continue
        found.setdefault(path, []).append(item)
    return found


# --- whole subtrees ---

_WHOLES: dict[tuple[int, bytes], tuple[Shape, Set]] = {}
_KEPT = 512
_LARGEST = 8192


def whole(shape: Shape, value: Any) -> Set:
    """The set of a value that was not there before: its container and everything in it."""
    mode = shape.mode
    if mode == LEAF or not isinstance(value, (dict, list)) or not value:
        return MEMBER
    if isinstance(value, dict):
        if mode not in (MAP, FREE):
            return MEMBER
        child = shape.field
        made: Set = {SELF: MEMBER}
        for name in sorted(value):
            made[f"f:{name}"] = whole(child(name) or WHOLE, value[name])
        return made
    if mode not in (KEYED, SET):
        return MEMBER
    item = _item(shape)
    made = {SELF: MEMBER}
    for path, found in indexed(shape, value).items():
        made[path] = whole(item, found[0]) if len(found) == 1 else MEMBER
    return made


def remembered(shape: Shape, value: dict[str, Any], make: Callable[[], Set]) -> Set:
    """What `make` gives for a value, kept by the value's JSON."""
    text = orjson.dumps(value)
    if len(text) > _LARGEST:
        return make()
    found = _WHOLES.get((id(shape), text))
    if found is not None and found[0] is shape:
        return found[1]
    if len(_WHOLES) >= _KEPT:
        _WHOLES.clear()
    made = make()
    _WHOLES[id(shape), text] = (shape, made)
    return made
