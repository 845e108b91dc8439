"""What calls are estimated to cost beside their arguments, and how big their results get.

Sources: cel-go's `checker/cost.go` (the standard functions) and Kubernetes' `apiserver/pkg/cel/library/cost.go`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from setpoint.api.machinery.cel.running_cost import CHARACTER, LIST, LONGEST_FORMAT, PATTERN
from setpoint.api.machinery.cel.spans import MAX, ONE, Span, fixed
from setpoint.api.machinery.cel.syntax import Call, Expr, Literal


class Estimated(Struct, frozen=True):
    """A call's cost, and its result's size if that can be told."""

    cost: Span
    size: Span | None = None


class Sizes(Protocol):
    """What the estimates need to know."""

    def known_size(self, node: Expr) -> Span: ...

    def item_size(self, node: Expr) -> Span: ...


Estimate = Callable[[Sizes, Call], Estimated]


def _subject(node: Call) -> Expr:
    return node.target if node.target is not None else node.args[0]


def _others(node: Call) -> list[Expr]:
    return node.args if node.target is not None else node.args[1:]


def _traversal(factor: float, *, sized: bool = False) -> Estimate:
    """A look at every character of the subject."""

    def estimate(sizes: Sizes, node: Call) -> Estimated:
        size = sizes.known_size(_subject(node))
        return Estimated(size.times(factor), size if sized else None)

    return estimate


def _over_list(sizes: Sizes, node: Call) -> Estimated:
    """A look at every item; at its characters too, if it has some."""
    subject = _subject(node)
    size = sizes.known_size(subject)
    if not subject.type.params:
        return Estimated(size.times(CHARACTER))
    each = ONE
    if subject.type.params[0].name in {"string", "bytes"}:
        each += sizes.item_size(subject).times(CHARACTER)
    return Estimated(size * each)


def _replace(sizes: Sizes, node: Call) -> Estimated:
    size = sizes.known_size(_subject(node))
    old, new = (sizes.known_size(argument) for argument in _others(node)[:2])
    most, kept_most = _replacements(size.max, old.min, grows=new.max > old.min)
    least, kept_least = _replacements(size.min, old.max, grows=old.max > new.min)
    result = Span(least, most) * new + Span(kept_least, kept_most)
    return Estimated(size.times(2 * CHARACTER), result)


def _replacements(size: int, old: int, *, grows: bool) -> tuple[int, int]:
    """How often something may be replaced, and how much of the text stays."""
    if old == 0:
        return min(size + 1, MAX), size
    if not grows:
        return 0, size
    return math.ceil(float(size) / float(old)), 0


def _split(sizes: Sizes, node: Call) -> Estimated:
    size = sizes.known_size(_subject(node))
    others = _others(node)
    limit = others[1].value if len(others) > 1 and isinstance(others[1], Literal) else size.max
    return Estimated(size.times(2 * CHARACTER), Span(0, limit % (MAX + 1)))


def _join(sizes: Sizes, node: Call) -> Estimated:
    subject = _subject(node)
    count = sizes.known_size(subject)
    size = count * sizes.item_size(subject)
    if node.args:
        separators = Span(max(count.min - 1, 0), max(count.max - 1, 0))
        size += sizes.known_size(node.args[0]) * separators
    return Estimated(size.times(CHARACTER), size)


def _expression(sizes: Sizes, node: Call) -> Estimated:
    """A regular expression: the text's length times the pattern's."""
    size = sizes.known_size(_subject(node))
    text = (size + ONE).times(CHARACTER)
    cost = text * sizes.known_size(_others(node)[0]).times(PATTERN)
    return Estimated(cost, Span(0, size.max) if node.function in {"find", "findAll"} else None)


def _contains(sizes: Sizes, node: Call) -> Estimated:
    text, part = sizes.known_size(_subject(node)), sizes.known_size(_others(node)[0])
    return Estimated(text.times(CHARACTER) * part.times(CHARACTER))


def _affix(sizes: Sizes, node: Call) -> Estimated:
    return Estimated(sizes.known_size(node.args[0]).times(CHARACTER))


def _in_list(sizes: Sizes, node: Call) -> Estimated:
    return Estimated(sizes.known_size(node.args[1]))


def _comparison(sizes: Sizes, node: Call) -> Estimated:
    most = min(sizes.known_size(argument).max for argument in node.args)
    return Estimated(Span(1 if most else 0, most).times(CHARACTER))


#: values of these types are compared in one step
_ONE_STEP = {"net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"}


def _equality(sizes: Sizes, node: Call) -> Estimated:
    return Estimated(ONE) if node.args[0].type.name in _ONE_STEP else _comparison(sizes, node)


def _format(sizes: Sizes, node: Call) -> Estimated:
    """A pattern of unknown length, at most the longest."""
    text = (sizes.known_size(_others(node)[0]) + ONE).times(CHARACTER)
    return Estimated(text * fixed(LONGEST_FORMAT).times(PATTERN))


def _concatenation(sizes: Sizes, node: Call) -> Estimated:
    size = sizes.known_size(node.args[0]) + sizes.known_size(node.args[1])
    return Estimated(size.times(CHARACTER), size)


def _list_concatenation(sizes: Sizes, node: Call) -> Estimated:
    return Estimated(ONE, sizes.known_size(node.args[0]) + sizes.known_size(node.args[1]))


def _to_bytes(sizes: Sizes, node: Call) -> Estimated:
    size = sizes.known_size(node.args[0])
    return Estimated(size.times(CHARACTER), Span(size.min, size.max * 4 % (MAX + 1)))


def _to_string(sizes: Sizes, node: Call) -> Estimated:
    size = sizes.known_size(node.args[0])
    return Estimated(size.times(CHARACTER), Span(size.min // 4, size.max))


def _quote(sizes: Sizes, node: Call) -> Estimated:
    size = sizes.known_size(_subject(node))
    return Estimated(size.times(CHARACTER), size.times(2) + fixed(2))


def _sets(factor: int) -> Estimate:
    """Every item of one list meets every item of the other."""

    def estimate(sizes: Sizes, node: Call) -> Estimated:
        pairs = sizes.known_size(node.args[0]) * sizes.known_size(node.args[1])
        return Estimated(pairs.times(factor) + ONE)

    return estimate


def _contains_address(sizes: Sizes, node: Call) -> Estimated:
    address = Span(4, 16)
    cost = (address + address).times(CHARACTER)
    if node.function == "containsCIDR":
        cost += address.times(CHARACTER) + ONE
    if node.args[0].type.name == "string":
        cost += sizes.known_size(node.args[0]).times(CHARACTER)
    return Estimated(cost)


def _allocating(factor: float, size: Span) -> Estimated:
    """A call that makes a list of this size."""
    return Estimated(size.times(factor) + ONE + fixed(LIST), size)


def _number(node: Expr, other: int) -> int:
    known = isinstance(node, Literal) and isinstance(node.value, int) and node.value >= 0
    return node.value if known and isinstance(node, Literal) else other


def _slice(sizes: Sizes, node: Call) -> Estimated:
    start, end = node.args
    most = _number(end, sizes.known_size(_subject(node)).max)
    return _allocating(1, fixed((most - _number(start, 0)) % (MAX + 1)))


def _flatten(sizes: Sizes, node: Call) -> Estimated:
    depth = _number(node.args[0], MAX) if node.args else 1
    return _allocating(depth, sizes.known_size(_subject(node)))


def _squared(factor: float) -> Estimate:
    """Every item of the list that decides (the last: sortBy has the keys there) meets every other."""

    def estimate(sizes: Sizes, node: Call) -> Estimated:
        size = sizes.known_size(node.args[-1] if node.args else _subject(node))
        return _allocating(factor, size * size)

    return estimate


_ORDERED_LISTS = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")

#: by overload, else by function
CALLS: dict[str, Estimate] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _over_list),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _traversal(CHARACTER, sized=True)),
    "url": _traversal(CHARACTER, sized=True),
    **dict.fromkeys(("string_format", "isURL", "cidr", "isIP", "isCIDR", "string_to_ip"), _traversal(CHARACTER)),
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver"), _traversal(CHARACTER)),
    "ip.isCanonical": _traversal(2 * CHARACTER),
    "validate": _format,
    "replace": _replace,
    "split": _split,
    "join": _join,
    **dict.fromkeys(("find", "findAll", "matches_string"), _expression),
    "contains_string": _contains,
    **dict.fromkeys(("starts_with_string", "ends_with_string"), _affix),
    "in_list": _in_list,
    **dict.fromkeys(("equals", "not_equals"), _equality),
    **{
        f"{name}_{kind}": _comparison
        for name in ("less", "greater", "less_equals", "greater_equals")
        for kind in ("string", "bytes")
    },
    **dict.fromkeys(("add_string", "add_bytes"), _concatenation),
    "add_list": _list_concatenation,
    "string_to_bytes": _to_bytes,
    "bytes_to_string": _to_string,
    "strings_quote": _quote,
    **dict.fromkeys(("sets.contains", "sets.intersects"), _sets(1)),
    "sets.equivalent": _sets(2),
    **dict.fromkeys(("containsIP", "containsCIDR"), _contains_address),
    "list_slice": _slice,
    "lists_range": lambda _, node: _allocating(1, fixed(_number(node.args[0], MAX))),
    "list_reverse": lambda sizes, node: _allocating(1, sizes.known_size(_subject(node))),
    **dict.fromkeys(("list_flatten", "list_flatten_int"), _flatten),
    "list_distinct": _squared(2),
    **{
        f"list_{kind}_{name}": _squared(2 + CHARACTER if kind in {"string", "bytes"} else 2)
        for kind in _ORDERED_LISTS
        for name in ("sort", "sortByAssociatedKeys")
    },
}
