"""The parts of times and durations, in UTC or a time zone. Source: the CEL specification's list of standard definitions."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

from setpoint.api.machinery.cel.values import NANO, CelError, Duration, Timestamp

_offset = re.compile(r"([+-]?)(\d\d):(\d\d)").fullmatch
_PARTS: dict[str, Callable[[dt.datetime], int]] = {
    "year": lambda moment: moment.year,
    "month": lambda moment: moment.month - 1,
    "day_of_year": lambda moment: moment.timetuple().tm_yday - 1,
    "day_of_month": lambda moment: moment.day - 1,
    "day": lambda moment: moment.day,
    "day_of_week": lambda moment: moment.isoweekday() % 7,
    "hours": lambda moment: moment.hour,
    "minutes": lambda moment: moment.minute,
    "seconds": lambda moment: moment.second,
}


def _zone(name: str) -> dt.tzinfo:
    found = _offset(name)
    if found is not None:
        shift = dt.timedelta(hours=int(found[2]), minutes=int(found[3]))
        return dt.timezone(-shift if found[1] == "-" else shift)
    import zoneinfo

    try:
        return zoneinfo.ZoneInfo(name or "UTC")
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise CelError(f"unknown time zone {name}") from None


def _at(value: Timestamp, zone: str) -> dt.datetime:
    try:
        return value.moment().astimezone(_zone(zone))
    except (OverflowError, ValueError):
        raise CelError("timestamp overflow") from None


def _part(take: Callable[[dt.datetime], int]) -> Callable[[Timestamp], int]:
    return lambda value: take(value.moment())


def _part_in_zone(take: Callable[[dt.datetime], int]) -> Callable[[Timestamp, str], int]:
    return lambda value, zone: take(_at(value, zone))


def _milliseconds(value: Timestamp, _zone: str = "") -> int:
    return value.nanos % NANO // 10**6


def _whole(unit: int) -> Callable[[Duration], int]:
    """So many whole units, towards zero."""
    return lambda value: abs(value.nanos) // unit * (-1 if value.nanos < 0 else 1)


OVERLOADS: dict[str, Callable[..., Any]] = {
    **{f"timestamp_to_{name}": _part(take) for name, take in _PARTS.items()},
    **{f"timestamp_to_{name}_with_tz": _part_in_zone(take) for name, take in _PARTS.items()},
    "timestamp_to_milliseconds": _milliseconds,
    "timestamp_to_milliseconds_with_tz": _milliseconds,
    "duration_to_hours": _whole(3600 * NANO),
    "duration_to_minutes": _whole(60 * NANO),
    "duration_to_seconds": _whole(NANO),
    "duration_to_milliseconds": _whole(10**6),
}
