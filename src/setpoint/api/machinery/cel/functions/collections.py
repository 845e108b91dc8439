"""Lists, sets and optional values.

Sources: Kubernetes' `apiserver/pkg/cel/library/lists.go`, cel-go's `ext/sets.go` and `cel/library.go`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from setpoint.api.machinery.cel.functions.operators import OVERLOADS as OPERATORS
from setpoint.api.machinery.cel.values import NONE, CelError, Duration, Optional, Uint, equal

_SUMS: dict[str, tuple[str, Any]] = {
    "int": ("add_int64", 0),
    "uint": ("add_uint64", Uint(0)),
    "double": ("add_double", 0.0),
    "duration": ("add_duration_duration", Duration(0)),
}
_ORDERED = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")


def _sum(kind: str) -> Callable[[list[Any]], Any]:
    function, zero = _SUMS[kind]
    add = OPERATORS[function]

    def total(items: list[Any]) -> Any:
        value = zero
        for item in items:
            value = add(value, item)
        return value

    return total


def _smallest(items: list[Any]) -> Any:
    if not items:
        raise CelError("min called on empty list")
    return min(items)


def _greatest(items: list[Any]) -> Any:
    if not items:
        raise CelError("max called on empty list")
    return max(items)


def _sorted(items: list[Any]) -> bool:
    return all(one <= other for one, other in pairwise(items))


def _index_of(items: list[Any], item: Any) -> int:
    return next((index for index, one in enumerate(items) if equal(one, item)), -1)


def _last_index_of(items: list[Any], item: Any) -> int:
    return next((index for index in range(len(items) - 1, -1, -1) if equal(items[index], item)), -1)


def _contains(items: list[Any], part: list[Any]) -> bool:
    return all(any(equal(one, item) for item in items) for one in part)


def _intersects(items: list[Any], others: list[Any]) -> bool:
    return any(any(equal(one, item) for item in items) for one in others)


def _value(holder: Optional) -> Any:
    if not holder.present:
        raise CelError("optional.none() dereference")
    return holder.value


def _of_non_zero(value: Any) -> Optional:
    zero = value is None or value is False or (isinstance(value, int | float | str | bytes | list | dict) and not value)
    return NONE if zero else Optional(value, present=True)


def _unwrap(items: list[Optional]) -> list[Any]:
    return [item.value for item in items if item.present]


def _first(items: list[Any]) -> Optional:
    return Optional(items[0], present=True) if items else NONE


def _last(items: list[Any]) -> Optional:
    return Optional(items[-1], present=True) if items else NONE


OVERLOADS: dict[str, Callable[..., Any]] = {
    **{f"list_{kind}_sum_{kind}": _sum(kind) for kind in _SUMS},
    **{f"list_{kind}_min_{kind}": _smallest for kind in _ORDERED},
    **{f"list_{kind}_max_{kind}": _greatest for kind in _ORDERED},
    **{f"list_{kind}_is_sorted_bool": _sorted for kind in _ORDERED},
    "list_a_index_of_int": _index_of,
    "list_a_last_index_of_int": _last_index_of,
    "list_sets_contains_list": _contains,
    "list_sets_equivalent_list": lambda one, other: _contains(one, other) and _contains(other, one),
    "list_sets_intersects_list": _intersects,
    "optional_of": lambda value: Optional(value, present=True),
    "optional_ofNonZeroValue": _of_non_zero,
    "optional_none": lambda: NONE,
    "optional_unwrap": _unwrap,
    "optional_unwrapOpt": _unwrap,
    "optional_value": _value,
    "optional_hasValue": lambda holder: holder.present,
    "optional_or_optional": lambda one, other: one if one.present else other,
    "optional_orValue_value": lambda holder, value: holder.value if holder.present else value,
    "list_first": _first,
    "list_last": _last,
}
