"""Cron schedules as Kubernetes reads them: five fields, descriptors, intervals.

Only what is wrong with a schedule is found out here; when it fires is the controller's business.
Source: the standard parser of robfig/cron v3.
"""

from __future__ import annotations

import re
import zoneinfo
from typing import NamedTuple


class _Field(NamedTuple):
    low: int
    high: int
    names: tuple[str, ...] = ()


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS = (_Field(0, 59), _Field(0, 23), _Field(1, 31), _Field(1, 12, _MONTHS), _Field(0, 6, _DAYS))
_DESCRIPTORS = {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
_UNITS = frozenset({"ns", "us", "µs", "μs", "ms", "s", "m", "h"})
_PARTS = re.compile(r"(?P<number>[0-9]*(?:\.[0-9]*)?)(?P<unit>[^0-9.]*)")


class ScheduleError(ValueError):
    """The schedule makes no sense; the message is the parser's."""


def check(schedule: str) -> None:
    """Raises ScheduleError."""
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        zone, _, rest = schedule.partition("=")[2].partition(" ")
        if not is_zone(zone):
            raise ScheduleError(f"provided bad location {zone}: unknown time zone {zone}")
        schedule = rest.strip()
    if schedule.startswith("@"):
        _check_descriptor(schedule)
        return
    fields = schedule.split()
    if len(fields) != len(_FIELDS):
        raise ScheduleError(f"expected exactly {len(_FIELDS)} fields, found {len(fields)}: [{' '.join(fields)}]")
    for text, field in zip(fields, _FIELDS, strict=True):
        for part in filter(None, text.split(",")):
            _check_range(part, field)


def is_zone(name: str) -> bool:
    """Whether there is such a time zone; those that the system has the names of, `Local` too."""
    if name in {"", "UTC", "Local"}:
        return True
    try:
        zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return False
    return True


def _check_descriptor(schedule: str) -> None:
    if schedule in _DESCRIPTORS:
        return
    every = "@every "
    if not schedule.startswith(every):
        raise ScheduleError(f"unrecognized descriptor: {schedule}")
    duration = schedule[len(every) :]
    if why := _bad_duration(duration):
        raise ScheduleError(f"failed to parse duration {schedule}: time: {why}")


def _bad_duration(text: str) -> str:
    """What Go's ParseDuration says; nothing if the duration is good."""
    rest = text.removeprefix("-") if text.startswith("-") else text.removeprefix("+")
    if rest == "0":
        return ""
    bad = f'invalid duration "{text}"'
    while rest or not text.lstrip("+-"):
        part = _PARTS.match(rest)
        if part is None or not part["number"].strip("."):
            return bad
        if not part["unit"]:
            return f'missing unit in duration "{text}"'
        if part["unit"] not in _UNITS:
            return f'unknown unit "{part["unit"]}" in duration "{text}"'
        rest = rest[part.end() :]
    return ""


def _check_range(text: str, field: _Field) -> None:
    """`*`, `?`, a number or name, a range; each with a step or without."""
    parts = text.split("/")
    ends = parts[0].split("-")
    if ends[0] in {"*", "?"}:
        start, end = field.low, field.high
    else:
        start = _number(ends[0], field)
        if len(ends) > 2:
            raise ScheduleError(f"too many hyphens: {text}")
        end = _number(ends[1], field) if len(ends) == 2 else start
    step = 1
    if len(parts) == 2:
        step = _integer(parts[1])
        if len(ends) == 1:
            end = field.high
    elif len(parts) > 2:
        raise ScheduleError(f"too many slashes: {text}")
    _check_bounds(text, start, end, step, field)


def _check_bounds(text: str, start: int, end: int, step: int, field: _Field) -> None:
    if start < field.low:
        raise ScheduleError(f"beginning of range ({start}) below minimum ({field.low}): {text}")
    if end > field.high:
        raise ScheduleError(f"end of range ({end}) above maximum ({field.high}): {text}")
    if start > end:
        raise ScheduleError(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if step == 0:
        raise ScheduleError(f"step of range should be a positive number: {text}")


def _number(text: str, field: _Field) -> int:
    if text.lower() in field.names:
        return field.names.index(text.lower()) + (1 if field.names is _MONTHS else 0)
    return _integer(text)


def _integer(text: str) -> int:
    if not re.fullmatch(r"[-+]?[0-9]+", text, re.ASCII):
        raise ScheduleError(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    if abs(int(text)) >= 1 << 63:
        raise ScheduleError(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": value out of range')
    if int(text) < 0:
        raise ScheduleError(f"negative number ({int(text)}) not allowed: {text}")
    return int(text)
