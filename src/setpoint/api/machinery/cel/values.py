"""The values that expressions work on.

int, double, bool, string, bytes, null, list and map are Python's int, float, bool, str, bytes, None, list and dict; the others
are here. Equality is CEL's own (numbers compare across their types, a bool is no number), so use `equal`, not `==`.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable
from functools import total_ordering
from typing import Any

from msgspec import Struct

NANO = 10**9
_MAX_INT64 = 2**63 - 1
_MIN_SECONDS, _MAX_SECONDS = -62135596800, 253402300799
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class CelError(Exception):
    """An expression failed; `&&` and `||` may still have an answer. The message is cel-go's."""


class Stopped(Exception):
    """The expression may not go on; nothing absorbs this."""


class CostExceeded(Stopped):
    """The expression has cost more than it may."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class Interrupted(Stopped):
    """The expression has run for longer than any should."""

    def __init__(self) -> None:
        super().__init__("operation interrupted")


#: what one evaluation may make, in items and characters: whatever looked at all of it would exceed the cost limit
_MOST_MADE = 10_000_000
#: what one evaluation may visit inside values, in items
_MOST_VISITED = 1_000_000


class Work:
    """What an evaluation does that the cost model does not see.

    A value may hold another many times over, so a small one may be long to walk; the model counts the outermost items alone.
    """

    __slots__ = ("made", "visited")

    def __init__(self) -> None:
        self.made: float
        self.visited: float
        self.end()

    def begin(self) -> tuple[float, float]:
        """Count from nothing; what was counted before is for `resume`, as one evaluation may need another's value."""
        before = self.made, self.visited
        self.made = self.visited = 0
        return before

    def resume(self, before: tuple[float, float]) -> None:
        self.made, self.visited = before

    def end(self) -> None:
        """Outside evaluations nothing is counted."""
        self.made = self.visited = -math.inf


#: of the evaluation that runs; there is one at a time, since none waits for anything
work = Work()


def bounded(size: int) -> None:
    """Counts what is made; refuses to make too much."""
    if work.made + size > _MOST_MADE:
        raise CostExceeded
    work.made += size


def visit(count: int) -> None:
    """Counts the items of a value that is walked; refuses to walk too far."""
    work.visited += count
    if work.visited > _MOST_VISITED:
        raise CostExceeded


NO_OVERLOAD = "no such overload"


class Uint(int):
    """An unsigned integer."""

    __slots__ = ()


@total_ordering
class Timestamp(Struct, frozen=True, eq=False):
    """Nanoseconds since 1970. The offset from UTC, in seconds, that it was written with only matters for its text."""

    nanos: int
    offset: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timestamp) and self.nanos == other.nanos

    def __lt__(self, other: Timestamp) -> bool:
        return self.nanos < other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def moment(self) -> dt.datetime:
        return _EPOCH + dt.timedelta(seconds=self.nanos // NANO)


class Duration(Struct, frozen=True, order=True):
    """Nanoseconds."""

    nanos: int


class TypeValue(Struct, frozen=True):
    """A type as a value: what `type(x)` gives and names such as `string` stand for."""

    name: str


class Optional(Struct, frozen=True):
    """A value or none."""

    value: Any = None
    present: bool = False


NONE = Optional()


class Constructed(dict[str, Any]):
    """An object that an expression made (`Object.spec{…}`), with the name that it was made by."""

    name: str = ""


#: names of the opaque values' types, filled by the libraries that have them
opaque_names: dict[type, str] = {}
_NAMES: dict[type, str] = {
    bool: "bool", int: "int", Uint: "uint", float: "double", str: "string", bytes: "bytes", list: "list", dict: "map",
    type(None): "null_type", Timestamp: "google.protobuf.Timestamp", Duration: "google.protobuf.Duration",
    TypeValue: "type", Optional: "optional_type",
}  # fmt: skip


def type_name(value: Any) -> str:
    return _NAMES.get(type(value)) or opaque_names.get(type(value), "dyn")


_DIRECT = {str, int, float, bytes}


def equal(one: Any, other: Any) -> bool:
    """Whether two values are the same; values of different kinds never are."""
    kind = type(one)
    if kind is type(other) and kind not in _KEYED:
        if kind in _DIRECT:
            return bool(one == other)
        if kind is list:
            return _same_items(one, other)
        if kind is dict:
            visit(len(one))
            return len(one) == len(other) and all(key in other and equal(value, other[key]) for key, value in one.items())
        if kind is Optional:
            return bool(one.present == other.present and equal(one.value, other.value))
        return bool(one == other)
    if isinstance(one, list) and isinstance(other, list):
        equals: Callable[[Any], bool] | None = getattr(one, "equals", None) or getattr(other, "equals", None)
        if equals is not None:
            return equals(other if hasattr(one, "equals") else one)
        return _same_items(one, other)
    return _number(one) and _number(other) and one == other


def _same_items(one: list[Any], other: list[Any]) -> bool:
    visit(len(one))
    return len(one) == len(other) and all(map(equal, one, other))


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class SetList(list[Any]):
    """A list whose schema says `x-kubernetes-list-type: set`: order does not count, addition is union."""

    def equals(self, other: list[Any]) -> bool:
        return len(self) == len(other) and set(map(_identity, self)) == set(map(_identity, other))

    def plus(self, other: list[Any]) -> list[Any]:
        known = set(map(_identity, self))
        return SetList([*self, *(item for item in other if _identity(item) not in known)])


#: an identity is made, hashed and compared, which takes as long as so many visits
_IDENTITY = 4


def _identity(item: Any) -> Any:
    """Something to compare a set's items by: equal items have equal identities."""
    if isinstance(item, list):
        visit(_IDENTITY * len(item))
        return "list", tuple(map(_identity, item))
    if isinstance(item, dict):
        visit(_IDENTITY * len(item))
        return "map", frozenset((_identity(key), _identity(value)) for key, value in item.items())
    return ("bool", item) if isinstance(item, bool) else item


class MapList(list[Any]):
    """A list whose schema says `x-kubernetes-list-type: map`: items go by their keys, addition replaces in place."""

    keys: tuple[str, ...] = ()

    def equals(self, other: list[Any]) -> bool:
        by_key = {self._key(item): item for item in other}
        return len(self) == len(other) and all(
            self._key(item) in by_key and equal(item, by_key[self._key(item)]) for item in self
        )

    def plus(self, other: list[Any]) -> list[Any]:
        merged = {self._key(item): item for item in self}
        merged.update((self._key(item), item) for item in other)
        out = MapList(merged.values())
        out.keys = self.keys
        return out

    def _key(self, item: Any) -> Any:
        return _identity([item.get(key) for key in self.keys] if isinstance(item, dict) else item)


_KEYED: set[type] = {SetList, MapList}
_NAMES.update(dict.fromkeys(_KEYED, "list"))

_rfc3339 = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))").fullmatch
_duration_part = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_UNITS = {"ns": 1, "us": 1000, "µs": 1000, "μs": 1000, "ms": 10**6, "s": NANO, "m": 60 * NANO, "h": 3600 * NANO}


def parse_timestamp(text: str) -> Timestamp | None:
    """An RFC 3339 time between the years 1 and 9999."""
    found = _rfc3339(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(found[index]) for index in range(1, 7))
    try:
        moment = dt.datetime(year, month, day, hour, minute, second, tzinfo=dt.UTC)
    except ValueError:
        return None
    nanos = int((found[7] or "0")[:9].ljust(9, "0"))
    shift = (int(found[9]) * 3600 + int(found[10]) * 60) * (-1 if found[8] == "-" else 1) if found[8] else 0
    seconds = int((moment - _EPOCH).total_seconds()) - shift
    return Timestamp(seconds * NANO + nanos, shift) if _MIN_SECONDS <= seconds <= _MAX_SECONDS else None


def timestamp(nanos: int) -> Timestamp:
    """A time, if it lies between the years 1 and 9999."""
    if not _MIN_SECONDS <= nanos // NANO <= _MAX_SECONDS:
        raise CelError("timestamp overflow")
    return Timestamp(nanos)


def parse_duration(text: str) -> Duration | None:
    """A duration as Go writes it: `1h30m`, `-1.5s`, `0`."""
    body = text[1:] if text[:1] in {"+", "-"} else text
    if body == "0":
        return Duration(0)
    total, offset = 0, 0
    while offset < len(body):
        found = _duration_part.match(body, offset)
        if found is None:
            return None
        whole, _, fraction = found[1].partition(".")
        whole, fraction = whole.lstrip("0"), fraction[:18]  # further digits are below a nanosecond
        if len(whole) > 19:
            return None
        unit = _UNITS[found[2]]
        total += int(whole or 0) * unit + (int(fraction) * unit // 10 ** len(fraction) if fraction else 0)
        offset = found.end()
    if not body or total > _MAX_INT64:
        return None
    return Duration(-total if text[0] == "-" else total)


def timestamp_text(value: Timestamp) -> str:
    """RFC 3339 with the fraction's zeros left away."""
    fraction = value.nanos % NANO
    dot = f".{fraction:09d}".rstrip("0") if fraction else ""
    moment = value.moment() + dt.timedelta(seconds=value.offset)
    sign, minutes = "-" if value.offset < 0 else "+", abs(value.offset) // 60
    zone = f"{sign}{minutes // 60:02d}:{minutes % 60:02d}" if minutes else "Z"
    return f"{moment.replace(tzinfo=None).isoformat(timespec='seconds')}{dot}{zone}"


def seconds_text(value: Duration) -> str:
    """A duration as CEL's `string()` gives it: seconds."""
    sign, nanos = ("-", -value.nanos) if value.nanos < 0 else ("", value.nanos)
    dot = f".{nanos % NANO:09d}".rstrip("0") if nanos % NANO else ""
    return f"{sign}{nanos // NANO}{dot}s"
