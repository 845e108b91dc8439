"""Schedules: five fields, names, `@hourly` and the like, `@every 90m`; and the next moment of one in a time zone.

The grammar and the choice of days are those of robfig/cron, which Kubernetes uses: if both day of month and day of week are
restricted, either may match; `*/2` is a restriction, `*` and `?` are none. An hour that daylight saving leaves out is skipped,
one that it repeats counts twice.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Protocol

from msgspec import Struct

_MONTHS = {
    name: number
    for number, name in enumerate(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1)
}
_DAYS = {name: number for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
_BOUNDS: tuple[tuple[int, int, dict[str, int]], ...] = ((0, 59, {}), (0, 23, {}), (1, 31, {}), (1, 12, _MONTHS), (0, 6, _DAYS))
_NAMED = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_UNITS = {
    "h": 3600.0,
    "m": 60.0,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "\u00b5s": 1e-6,
    "\u03bcs": 1e-6,
    "ns": 1e-9,
}
_AMOUNT = re.compile(rf"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)({'|'.join(sorted(_UNITS, key=len, reverse=True))})")
_INTEGER = re.compile(r"\+?[0-9]+")
_ANY = ("*", "?")
_YEARS = 5


class Unparseable(ValueError):
    """No schedule; the message says why."""


class Schedule(Protocol):
    """Moments, in seconds since the epoch."""

    def next(self, after: float) -> float | None:
        """The first moment after `after`; None if none comes within five years."""


class Every(Struct, frozen=True):
    """A constant delay in whole seconds, one at the least."""

    seconds: float

    def next(self, after: float) -> float | None:
        return float(int(after) + self.seconds)


class Field(Struct, frozen=True):
    """The values that match; `free` for one that does not restrict."""

    values: frozenset[int]
    free: bool


class Fields(Struct, frozen=True):
    """The five fields of a crontab, in a time zone. A field such as `,` has no values, and the moment never comes."""

    minute: Field
    hour: Field
    day: Field
    month: Field
    weekday: Field
    zone: tzinfo

    def next(self, after: float) -> float | None:
        if not all(field.values for field in (self.minute, self.hour, self.day, self.month, self.weekday)):
            return None
        moment = float((int(after) // 60 + 1) * 60)
        limit = datetime.fromtimestamp(after, self.zone).year + _YEARS
        while (local := datetime.fromtimestamp(moment, self.zone)).year <= limit:
            if local.month not in self.month.values:
                first = local.replace(day=1, hour=0, minute=0) + timedelta(days=32)
                moment = self._midnight(first.replace(day=1), moment)
            elif not self._day(local):
                moment = self._midnight(local + timedelta(days=1), moment)
            elif local.hour not in self.hour.values:
                moment += 3600 - local.minute * 60
            elif local.minute not in self.minute.values:
                moment += 60
            else:
                return moment
        return None

    def _midnight(self, day: datetime, after: float) -> float:
        return max(datetime(day.year, day.month, day.day, tzinfo=self.zone).timestamp(), after + 60)

    def _day(self, local: datetime) -> bool:
        day, weekday = local.day in self.day.values, local.isoweekday() % 7 in self.weekday.values
        return (day and weekday) if self.day.free or self.weekday.free else (day or weekday)


@lru_cache(maxsize=1024)
def parse(text: str, zone: str = "") -> Schedule:
    """The schedule; Unparseable if it is none. `zone` "" is UTC, unless the text begins with `TZ=…`."""
    spec = text.strip()
    if spec.startswith(("TZ=", "CRON_TZ=")):
        named, _, spec = spec.partition(" ")
        zone, spec = named.partition("=")[2], spec.strip()
    if spec.startswith("@every "):
        return Every(max(1.0, float(int(_duration(spec.removeprefix("@every "))))))
    parts = _NAMED.get(spec, spec).split()
    if spec.startswith("@") and spec not in _NAMED:
        raise Unparseable(f"unrecognized descriptor: {spec}")
    if len(parts) != len(_BOUNDS):
        raise Unparseable(f"expected exactly 5 fields, found {len(parts)}: [{' '.join(parts)}]")
    minute, hour, day, month, weekday = (_field(part, *bounds) for part, bounds in zip(parts, _BOUNDS, strict=True))
    return Fields(minute, hour, day, month, weekday, location(zone))


def location(zone: str) -> tzinfo:
    """The time zone of a name; Unparseable if there is none."""
    if zone in {"", "UTC", "Etc/UTC"}:
        return UTC
    from zoneinfo import ZoneInfo  # only CronJobs with a time zone need it

    try:
        return ZoneInfo(zone)
    except (KeyError, ValueError, OSError) as error:
        raise Unparseable(f"unknown time zone {zone}") from error


def _duration(text: str) -> float:
    """Seconds; a sign stands before all of them, and 0 needs no unit."""
    amounts = text[1:] if text.startswith(("+", "-")) else text
    if amounts == "0":
        return 0.0
    if not _AMOUNT.match(amounts) or _AMOUNT.sub("", amounts):
        raise Unparseable(f'failed to parse duration @every {text}: time: invalid duration "{text}"')
    seconds = sum(float(amount) * _UNITS[unit] for amount, unit in _AMOUNT.findall(amounts))
    return -seconds if text.startswith("-") else seconds


def _field(text: str, low: int, high: int, names: dict[str, int]) -> Field:
    values: set[int] = set()
    free = False
    for part in filter(None, text.split(",")):
        chosen, step = _part(part, low, high, names)
        values.update(chosen)
        free |= part.startswith(_ANY) and step == 1
    return Field(frozenset(values), free)


def _part(text: str, low: int, high: int, names: dict[str, int]) -> tuple[range, int]:
    """`*`, `5`, `1-5`, each with `/step`; a step after a single value goes on to the end. What follows `*-` is not looked at."""
    span, slash, stride = text.partition("/")
    step = _number(stride, {}) if slash else 1
    begin, dash, end = span.partition("-")
    if begin in _ANY:
        first, last = low, high
    else:
        first = _number(begin, names)
        last = _number(end, names) if dash else (high if slash else first)
    if first < low or last > high or first > last or step < 1:
        raise Unparseable(f"value out of range: {text}")
    return range(first, last + 1, step), step


def _number(text: str, names: dict[str, int]) -> int:
    if (named := names.get(text.lower())) is not None:
        return named
    if not _INTEGER.fullmatch(text):
        raise Unparseable(f"failed to parse int from {text}")
    return int(text)
