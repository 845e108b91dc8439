"""Values and field sets: what a configuration owns, merging it into an object, taking fields out of one.

All functions are pure; results share what is unchanged.
Source: structured-merge-diff `typed/tofieldset.go`, `merge.go`, `remove.go`.
"""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery.fields import sets
from setpoint.api.machinery.fields.comparing import indexed
from setpoint.api.machinery.fields.sets import LEAF as MEMBER
from setpoint.api.machinery.fields.sets import SELF, Set
from setpoint.api.machinery.fields.shape import FREE, KEYED, LEAF, MAP, SET, WHOLE, Shape

Json = dict[str, Any]


def owned(shape: Shape, value: Any) -> Set:
    """The fields that a configuration owns: its leaves and items; a container only where it is empty or an item itself."""
    mode = shape.mode
    if isinstance(value, dict) and mode in (MAP, FREE):
        return _owned_map(shape, value)
    if isinstance(value, list) and mode in (KEYED, SET):
        return _owned_list(shape, value)
    return MEMBER


def _owned_map(shape: Shape, value: Json) -> Set:
    made: Set = {}
    for name in sorted(value):
        item = value[name]
        child = shape.field(name) or WHOLE
        found = owned(child, item)
        if found:
            made[f"f:{name}"] = found if name in shape.declared else {SELF: MEMBER, **found}
        elif _leaf(child, item) or name not in shape.declared:
            made[f"f:{name}"] = MEMBER
    return made


def _leaf(shape: Shape, value: Any) -> bool:
    """Whether a value without owned children is owned itself: anything but a list without items, and what holds only such."""
    if isinstance(value, list):
        return shape.mode not in (KEYED, SET)
    return not (value and isinstance(value, dict) and shape.mode in (MAP, FREE))


def _owned_list(shape: Shape, value: list[Any]) -> Set:
    made: Set = {}
    for path, items in indexed(shape, value).items():
        found = owned(shape.item or WHOLE, items[0]) if len(items) == 1 else MEMBER
        made[path] = {SELF: MEMBER, **found} if found else MEMBER
    return made


def with_named(found: Set, shape: Shape | None) -> Set:
    """The set with every declared field above its members as a member too (`EnsureNamedFieldsAreMembers`)."""
    made: Set = {}
    for name, child in found.items():
        if not child or name == SELF:
            made[name] = child
            continue
        inner = _below(shape, name)
        below = with_named(child, inner)
        named = shape is not None and name[0] == "f" and name[2:] in shape.declared
        made[name] = {SELF: MEMBER, **below} if named and SELF not in below else below
    return made


def as_whole(found: Set, shape: Shape | None) -> Set:
    """The set for a schema that may have made lists and maps atomic since it was written: who owned parts owns them whole."""
    made: Set | None = None
    for name, child in found.items():
        inner = _below(shape, name) if child and name != SELF else None
        if inner is None:
            continue
        atomic = inner.mode == LEAF and inner.node is not None and inner.node.kind in {"list", "map", "object"}
        changed = MEMBER if atomic else as_whole(child, inner)
        if changed is not child:
            made = made if made is not None else dict(found)
            made[name] = changed
    return found if made is None else made


def _below(shape: Shape | None, name: str) -> Shape | None:
    if shape is None:
        return None
    if name[0] == "f":
        return shape.field(name[2:]) if shape.mode in (MAP, FREE) else None
    return shape.item if name[0] == "k" and shape.mode == KEYED else None


# --- merging ---

_ABSENT: Any = object()


def merge(shape: Shape, live: Any, config: Any) -> Any:
    """The object with the configuration's values in it; nothing is removed."""
    mode = shape.mode
    if mode == LEAF:
        return config
    if mode == FREE:
        return (
            _merge_maps(shape, live, config)
            if isinstance(live, dict) and isinstance(config, dict) and live and config
            else config
        )
    if not live and not config:
        return config
    if mode == MAP:
        return _merge_maps(shape, live or {}, config or {})
    return _merge_lists(shape, live or [], config or [])


def _merge_maps(shape: Shape, live: Json, config: Json) -> Json:
    merged = dict(live)
    for name, value in config.items():
        mine = live.get(name, _ABSENT)
        merged[name] = value if mine is _ABSENT else merge(shape.field(name) or WHOLE, mine, value)
    return merged


def _merge_lists(shape: Shape, live: list[Any], config: list[Any]) -> list[Any]:
    """Items by their key. The configuration's order holds for its items, the live order for the others as far as it can."""
    mine, theirs = _elements(shape, live), _elements(shape, config)
    before, wanted = indexed(shape, live), indexed(shape, config)
    shared = [path for path in theirs if path in before]
    done: set[str] = set()
    merged: list[Any] = []

    def take(path: str) -> None:
        done.add(path)
        old = before.get(path, ())
        item = wanted[path][0]
        merged.append(merge(shape.item or WHOLE, old[0], item) if len(old) == 1 else item)
        if shared and shared[0] == path:
            shared.pop(0)

    i = j = 0
    while i < len(mine) or j < len(theirs):
        if i < len(mine) and j < len(theirs):
            if mine[i] == theirs[j]:
                take(theirs[j])
                i, j = i + 1, j + 1
                continue
            if mine[i] in wanted and shared and shared[0] != mine[i]:
                i += 1
                continue
        if i < len(mine):
            if mine[i] not in wanted:
                merged.append(live[i])
                i += 1
                continue
            if mine[i] in done:
                i += 1
        if j < len(theirs):
            take(theirs[j])
            j += 1
    return merged


def _elements(shape: Shape, items: list[Any]) -> list[str]:
    """The path element of each item; an item without one gets a name of its own, so that positions stay right."""
    found = []
    for position, item in enumerate(items):
        try:
            found.append(shape.element(item))
        except ValueError:
            found.append(f"i:{position}")
    return found


# --- removing ---


def remove(shape: Shape, value: Any, gone: Set) -> Any:
    """The value without the fields of a set; what loses everything becomes null."""
    if isinstance(value, dict):
        if not value or shape.mode not in (MAP, FREE):
            return None
        return _remove_fields(shape, value, gone)
    if isinstance(value, list):
        if not value or shape.mode not in (KEYED, SET):
            return None
        return _remove_items(shape, value, gone)
    return value


def _remove_fields(shape: Shape, value: Json, gone: Set) -> Json | None:
    kept: Json = {}
    for name, item in value.items():
        below = gone.get(f"f:{name}")
        if below is None:
            kept[name] = item
        elif not sets.member(below):
            kept[name] = remove(shape.field(name) or WHOLE, item, below)
    return kept or None


def _remove_items(shape: Shape, value: list[Any], gone: Set) -> list[Any] | None:
    kept = []
    for path, item in zip(_elements(shape, value), value, strict=True):
        below = gone.get(path)
        if below is None:
            kept.append(item)
        elif not sets.member(below):
            kept.append(remove(shape.item or WHOLE, item, below))
    return kept or None
