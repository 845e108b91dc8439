"""What a new object owns, remembered by its form: which fields it has, whatever stands in them.

Events, and most objects that programs make, differ from one another in values alone, which ownership does not look at, but for
one thing: a field that is always written is not set where it says what it would say anyway. Lists are owned by what is in them,
so an object that has one has no form.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from setpoint.api.machinery.fields.sets import Set
from setpoint.api.machinery.schema.node import Node

_KEPT = 512
_MOST_NAMES = 40  # of one map
_NOTHING: Mapping[str, Any] = {}
_known: dict[tuple[int, Hashable, Hashable], tuple[Node, Set]] = {}


class _Formless(Exception):
    """There is a list in it, or too much."""


def remembered(node: Node, reset: Hashable, start: Mapping[str, Any], new: Mapping[str, Any], make: Callable[[], Set]) -> Set:
    """What `make` gives for an object of a built-in kind of which nothing is set but what `start` says by itself."""
    try:
        key = (id(node), reset, _form(start, new))
    except _Formless:
        return make()
    found = _known.get(key)
    if found is not None and found[0] is node:
        return found[1]
    made = make()
    if len(_known) >= _KEPT:
        _known.clear()
    _known[key] = (node, made)
    return made


def _form(start: Mapping[str, Any], value: Mapping[str, Any]) -> Hashable:
    """Names, those of maps with what is in them; a name by itself in a tuple is a field that says what it always says."""
    if len(value) > _MOST_NAMES:
        raise _Formless
    form: list[Hashable] = []
    for name, item in value.items():
        kind = type(item)
        if kind is dict:
            before = start.get(name)
            form.append((name, _form(before if type(before) is dict else _NOTHING, item)))
        elif kind is list:
            raise _Formless
        else:
            form.append((name,) if name in start and start[name] == item else name)
    return tuple(form)
