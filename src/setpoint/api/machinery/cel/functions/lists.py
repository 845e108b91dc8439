"""Parts of lists, their order, lists of lists and ranges: version 3 of cel-go's `ext/lists.go`, in Kubernetes since 1.34."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from setpoint.api.machinery.cel.running_cost import PER_CALL_LIMIT
from setpoint.api.machinery.cel.values import CelError, CostExceeded, Uint, bounded, equal, visit

#: the types that have an order
ORDERED = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_LONGEST_RANGE = 10_000_000


def _slice(items: list[Any], start: int, end: int) -> list[Any]:
    if start < 0 or end < 0:
        raise CelError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise CelError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(items) < end:
        raise CelError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return [*items][start:end]


def _flatten(items: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise CelError("level must be non-negative")
    visit(len(items))
    flat: list[Any] = []
    for item in items:
        if isinstance(item, list) and depth > 0:
            flat += _flatten(item, depth - 1)
        else:
            flat.append(item)
    return flat


def _range(count: int) -> list[int]:
    if count < 0:
        raise CelError(f"lists.range: size must be non-negative, got {count}")
    if count > _LONGEST_RANGE:
        raise CelError(f"lists.range: size {count} exceeds maximum allowed ({_LONGEST_RANGE})")
    if count > PER_CALL_LIMIT:
        raise CostExceeded  # as its cost says, but before the list is made
    bounded(count)
    return list(range(count))


def _distinct(items: list[Any]) -> list[Any]:
    found: list[Any] = []
    for item in items:
        visit(len(found))
        if not any(equal(item, one) for one in found):
            found.append(item)
    return found


def _kind(key: Any) -> type:
    return Uint if isinstance(key, Uint) else type(key)


def _sorted_by(items: list[Any], keys: list[Any]) -> list[Any]:
    """The items in the order of their keys. Go's sort may swap equals; here they keep their places."""
    if keys and any(_kind(key) is not _kind(keys[0]) for key in keys):
        raise CelError("list elements must have the same type")
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return [items[index] for index in order]


OVERLOADS: dict[str, Callable[..., Any]] = {
    "list_slice": _slice,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "lists_range": _range,
    "list_reverse": lambda items: items[::-1],
    "list_distinct": _distinct,
    **{f"list_{kind}_sort": lambda items: _sorted_by(items, items) for kind in ORDERED},
    **{f"list_{kind}_sortByAssociatedKeys": _sorted_by for kind in ORDERED},
}
