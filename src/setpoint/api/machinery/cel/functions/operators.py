"""Arithmetic that refuses to overflow, comparison, membership, indexing.

Source: the CEL specification and cel-go's `common/types`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from setpoint.api.machinery.cel.values import (
    NO_OVERLOAD,
    NONE,
    CelError,
    Duration,
    Optional,
    Uint,
    bounded,
    equal,
    timestamp,
)

_MAX, _MIN, _MAX_UINT = 2**63 - 1, -(2**63), 2**64 - 1


def _integer(value: int) -> int:
    if not _MIN <= value <= _MAX:
        raise CelError("integer overflow")
    return value


def _unsigned(value: int) -> Uint:
    if not 0 <= value <= _MAX_UINT:
        raise CelError("unsigned integer overflow")
    return Uint(value)


def duration(nanos: int) -> Duration:
    if not _MIN <= nanos <= _MAX:
        raise CelError("duration overflow")
    return Duration(nanos)


def _checked(convert: Callable[[int], Any], calculate: Callable[[Any, Any], int]) -> Callable[[Any, Any], Any]:
    return lambda one, other: convert(calculate(int(one), int(other)))


def _quotient(one: int, other: int) -> int:
    """Division towards zero, as Go's."""
    if other == 0:
        raise CelError("division by zero")
    return -(-one // other) if (one < 0) != (other < 0) else one // other


def _remainder(one: int, other: int) -> int:
    if other == 0:
        raise CelError("modulus by zero")
    return int(math.fmod(one, other)) if abs(one) < 2**50 and abs(other) < 2**50 else one - other * _quotient(one, other)


def _divide_double(one: float, other: float) -> float:
    if other:
        return one / other
    if one == 0 or math.isnan(one):
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1, other)


def _add_list(one: list[Any], other: list[Any]) -> list[Any]:
    bounded(len(one) + len(other))
    plus: Callable[[list[Any]], list[Any]] | None = getattr(one, "plus", None)
    return plus(other) if plus is not None else [*one, *other]


def _in_list(item: Any, items: list[Any]) -> bool:
    return any(equal(item, one) for one in items)


def _in_map(key: Any, items: dict[Any, Any]) -> bool:
    return find(items, key) is not None


def find(items: dict[Any, Any], key: Any) -> tuple[Any] | None:
    """The value of a key, in a tuple; numbers of all types name the same keys, a bool is no number."""
    try:
        if key in items and (isinstance(key, str) or _same_kind(items, key)):
            return (items[key],)
    except TypeError:
        raise CelError(f"unsupported key type: {type(key).__name__}") from None
    return None


def _same_kind(items: dict[Any, Any], key: Any) -> bool:
    found = next((one for one in items if one == key), key)
    return isinstance(found, bool) == isinstance(key, bool)


def key_text(key: Any) -> str:
    """A key as complaints show it."""
    if isinstance(key, bool):
        return "true" if key else "false"
    return str(key)


def index_map(items: dict[Any, Any], key: Any) -> Any:
    found = find(items, key)
    if found is None:
        raise CelError(f"no such key: {key_text(key)}")
    return found[0]


def index_list(items: list[Any], index: Any) -> Any:
    at = _position(index)
    if not 0 <= at < len(items):
        raise CelError(f"index out of bounds: {at}")
    return items[at]


def _position(index: Any) -> int:
    if isinstance(index, bool) or not isinstance(index, int | float) or index != int(index):
        raise CelError(f"unsupported index type '{type(index).__name__}' in list")
    return int(index)


def _optional_index_list(items: list[Any], index: Any) -> Optional:
    at = _position(index)
    return Optional(items[at], present=True) if 0 <= at < len(items) else NONE


def _optional_index_map(items: dict[Any, Any], key: Any) -> Optional:
    found = find(items, key)
    return Optional(found[0], present=True) if found else NONE


def _through(index: Callable[[Any, Any], Optional]) -> Callable[[Optional, Any], Optional]:
    return lambda holder, key: index(holder.value, key) if holder.present else NONE


def _negate(value: Any) -> Any:
    if isinstance(value, bool):
        raise CelError(NO_OVERLOAD)
    return -value if isinstance(value, float) else _integer(-value)


def _comparisons() -> dict[str, Callable[[Any, Any], bool]]:
    out: dict[str, Callable[[Any, Any], bool]] = {}
    kinds = (
        "double int64 string bytes bool uint64 timestamp duration "
        "int64_double int64_uint64 uint64_double uint64_int64 double_int64 double_uint64"
    )
    signs = {"less": operator.lt, "less_equals": operator.le, "greater": operator.gt, "greater_equals": operator.ge}
    for name, compare in signs.items():
        out.update((f"{name}_{kind}", compare) for kind in kinds.split())
    return out


OVERLOADS: dict[str, Callable[..., Any]] = {
    **_comparisons(),
    "logical_not": operator.not_,
    "negate_double": _negate,
    "negate_int64": _negate,
    "equals": equal,
    "not_equals": lambda one, other: not equal(one, other),
    "add_bytes": operator.add,
    "add_double": operator.add,
    "add_string": operator.add,
    "add_list": _add_list,
    "add_int64": _checked(_integer, operator.add),
    "add_uint64": _checked(_unsigned, operator.add),
    "add_duration_duration": lambda one, other: duration(one.nanos + other.nanos),
    "add_duration_timestamp": lambda one, other: timestamp(one.nanos + other.nanos),
    "add_timestamp_duration": lambda one, other: timestamp(one.nanos + other.nanos),
    "subtract_double": operator.sub,
    "subtract_int64": _checked(_integer, operator.sub),
    "subtract_uint64": _checked(_unsigned, operator.sub),
    "subtract_duration_duration": lambda one, other: duration(one.nanos - other.nanos),
    "subtract_timestamp_duration": lambda one, other: timestamp(one.nanos - other.nanos),
    "subtract_timestamp_timestamp": lambda one, other: duration(one.nanos - other.nanos),
    "multiply_double": operator.mul,
    "multiply_int64": _checked(_integer, operator.mul),
    "multiply_uint64": _checked(_unsigned, operator.mul),
    "divide_double": _divide_double,
    "divide_int64": _checked(_integer, _quotient),
    "divide_uint64": _checked(_unsigned, _quotient),
    "modulo_int64": _checked(_integer, _remainder),
    "modulo_uint64": _checked(_unsigned, _remainder),
    "index_list": index_list,
    "index_map": index_map,
    "optional_list_index_int": _through(_optional_index_list),
    "optional_map_index_value": _through(_optional_index_map),
    "list_optindex_optional_int": _optional_index_list,
    "optional_list_optindex_optional_int": _through(_optional_index_list),
    "map_optindex_optional_value": _optional_index_map,
    "optional_map_optindex_optional_value": _through(_optional_index_map),
    "in_list": _in_list,
    "in_map": _in_map,
}
