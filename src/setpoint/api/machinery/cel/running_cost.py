"""What each call costs while an expression runs, in Kubernetes' units: one for a step, a tenth for a character looked at.

Sources: cel-go's `interpreter/runtimecost.go` and Kubernetes' `apiserver/pkg/cel/library/cost.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from setpoint.api.machinery.cel.values import visit

CHARACTER, PATTERN = 0.1, 0.25
#: the cost of making a list, a map, an object
LIST, MAP, OBJECT = 10, 30, 40
#: the runtime limit of one expression, and of all rules of one object
PER_CALL_LIMIT, OBJECT_BUDGET = 1_000_000, 10_000_000

#: the lengths of the patterns behind named formats
FORMAT_PATTERNS = {"dns1123Label": 30, "dns1035Label": 30, "dns1123Subdomain": 60}
LONGEST_FORMAT = 128

#: the cost of asking the authoriser
_QUESTION = 350_000

Cost = Callable[[Sequence[Any], Any], int]


def size(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes | list | dict) else 1


def ceiling(value: float) -> int:
    return -int(-value // 1)


def _traversal(value: Any) -> int:
    if isinstance(value, str | bytes):
        return int(len(value if isinstance(value, bytes) else value.encode()) * CHARACTER)
    if isinstance(value, list):
        visit(len(value))
        return sum(map(_traversal, value))
    if isinstance(value, dict):
        visit(len(value))
        return sum(_traversal(key) + _traversal(one) for key, one in value.items())
    return 1


def _first(factor: float) -> Cost:
    return lambda args, _: ceiling(size(args[0]) * factor)


def _either(args: Sequence[Any], _: Any) -> int:
    return ceiling(min(size(args[0]), size(args[1])) * CHARACTER)


def _pattern(args: Sequence[Any], _: Any) -> int:
    return ceiling((1 + size(args[0])) * CHARACTER) * ceiling(size(args[1]) * PATTERN)


def _product(args: Sequence[Any], _: Any) -> int:
    return size(args[0]) * size(args[1]) + 1


def _join(_: Sequence[Any], result: Any) -> int:
    return ceiling(size(result) * 2 * CHARACTER)


def _contains(args: Sequence[Any], _: Any) -> int:
    return ceiling(size(args[0]) * CHARACTER) * ceiling(size(args[1]) * CHARACTER)


def _format(args: Sequence[Any], _: Any) -> int:
    """Formats are patterns whose lengths are declared."""
    pattern = FORMAT_PATTERNS.get(getattr(args[0], "name", ""), LONGEST_FORMAT)
    return ceiling((1 + size(args[1])) * CHARACTER) * ceiling(pattern * PATTERN)


def _contains_address(args: Sequence[Any], _: Any) -> int:
    network = 4 if getattr(getattr(args[0], "address", None), "version", 4) == 4 else 16
    other = size(args[1]) if isinstance(args[1], str) else 0
    masked = ceiling(network * CHARACTER) + 1 if isinstance(args[1], str) and "/" in args[1] else 0
    return ceiling(2 * network * CHARACTER) + masked + ceiling(other * CHARACTER)


def _made(_: Sequence[Any], result: Any) -> int:
    return size(result) + 1 + LIST


def _flattened(args: Sequence[Any], _: Any) -> int:
    depth = args[1] if len(args) > 1 else 1
    return size(args[0]) * depth + 1 + LIST


def _self_compared(args: Sequence[Any], _: Any) -> int:
    """Every item of the deciding list meets every other."""
    items = args[-1]
    texts = isinstance(items, list) and bool(items) and isinstance(items[0], str | bytes)
    return int(size(items) ** 2 * (2 + CHARACTER if texts else 2)) + 1 + LIST


_BY_FUNCTION: dict[str, Cost] = {
    **dict.fromkeys(
        ("url", "lowerAscii", "upperAscii", "substring", "trim", "cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver",
         "isSemver", "isURL"),
        _first(CHARACTER),
    ),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _first(2 * CHARACTER)),
    **dict.fromkeys(
        ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), lambda args, _: _traversal(args[0])
    ),
    **dict.fromkeys(("find", "findAll"), _pattern),
    **dict.fromkeys(("sets.contains", "sets.intersects"), _product),
    "sets.equivalent": lambda args, result: 2 * _product(args, result) - 1,
    **dict.fromkeys(("slice", "lists.range", "reverse"), _made),
    "flatten": _flattened,
    **dict.fromkeys(("distinct", "sort", "@sortByAssociatedKeys"), _self_compared),
    "join": _join,
    "validate": _format,
    "check": lambda *_: _QUESTION,
    "containsIP": _contains_address,
    "containsCIDR": _contains_address,
}  # fmt: skip
_BY_OVERLOAD: dict[str, Cost] = {
    **dict.fromkeys(("string_to_bytes", "bytes_to_string", "string_to_ip", "strings_quote", "string_format"), _first(CHARACTER)),
    **dict.fromkeys(("starts_with_string", "ends_with_string"), _first(CHARACTER)),
    **dict.fromkeys(("matches", "matches_string"), _pattern),
    **dict.fromkeys(("add_string", "add_bytes"), lambda _, result: ceiling(size(result) * CHARACTER)),
    **dict.fromkeys(
        ("equals", "not_equals", *(f"{name}_{kind}" for name in ("less", "greater", "less_equals", "greater_equals")
                                   for kind in ("string", "bytes"))),
        _either,
    ),
    "contains_string": _contains,
    "in_list": lambda args, _: size(args[1]),
}  # fmt: skip


def cost_of(function: str, overload: str) -> Cost | None:
    """How to find a call's cost; nothing if it is one."""
    return _BY_OVERLOAD.get(overload) or _BY_FUNCTION.get(function)
