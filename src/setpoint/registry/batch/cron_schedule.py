"""Cron schedules as Kubernetes reads them: five fields, descriptors, intervals.

Only what is wrong with a schedule is found out here; when it fires is the controller's business.
Source: the standard parser of robfig/cron v3.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class _Field(NamedTuple):
    low: int
    high: int
    names: tuple[str, ...] = ()


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS = (_Field(0, 59), _Field(0, 23), _Field(1, 31), _Field(1, 12, _MONTHS), _Field(0, 6, _DAYS))
_DESCRIPTORS = {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
_DURATION = re.compile(
    r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|ms|s|m|h)(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|ms|s|m|h))*"
)


class ScheduleError(ValueError):
    """The schedule makes no sense; the message is the parser's."""


def check(schedule: str) -> None:
    """Raises ScheduleError."""
    if schedule.startswith("@"):
        _check_descriptor(schedule)
        return
    fields = schedule.split()
    if len(fields) != len(_FIELDS):
        raise ScheduleError(f"expected exactly {len(_FIELDS)} fields, found {len(fields)}: [{' '.join(fields)}]")
    for text, field in zip(fields, _FIELDS, strict=True):
        for part in text.split(","):
            _check_range(part, field)


def _check_descriptor(schedule: str) -> None:
    if schedule in _DESCRIPTORS:
        return
    every = "@every "
    if not schedule.startswith(every):
        raise ScheduleError(f"unrecognized descriptor: {schedule}")
    duration = schedule[len(every) :]
    if duration != "0" and not _DURATION.fullmatch(duration):
        raise ScheduleError(f'failed to parse duration {schedule}: time: invalid duration "{duration}"')


def _check_range(text: str, field: _Field) -> None:
    """`*`, `?`, a number or name, a range; each with a step or without."""
    parts = text.split("/")
    ends = parts[0].split("-")
    if ends[0] in {"*", "?"}:
        start, end = field.low, field.high
        if len(ends) > 1:
            raise ScheduleError(f"too many hyphens: {text}")
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
    if int(text) < 0:
        raise ScheduleError(f"negative number ({int(text)}) not allowed: {text}")
    return int(text)
