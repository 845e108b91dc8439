"""Which scheduled time is due, and how long until the next. Pure. As `pkg/controller/cronjob/utils.go`."""

from __future__ import annotations

from msgspec import Struct

from setpoint.api.types import batch_v1
from setpoint.controllers.cronjob.schedule import Schedule
from setpoint.kit.clock import parse_rfc3339

MANY = 100
_DELAY = 0.1
"""A moment more than asked for, so that the time is over when the key comes up."""


class Invalid(ValueError):
    """A schedule that never comes."""


class Missed(Struct, frozen=True):
    """`recent` is the newest scheduled time since `earliest` that is not in the future; `count` is about how many there are."""

    earliest: float
    recent: float | None = None
    count: int = 0


def since_last(cron_job: batch_v1.CronJob, schedule: Schedule, now: float, *, deadline: bool) -> Missed:
    """What was missed; with `deadline`, times too long ago to be made up for do not count. Raises Invalid."""
    last = cron_job.status.last_schedule_time or cron_job.metadata.creation_timestamp
    earliest = parse_rfc3339(last) if last else now
    if deadline and cron_job.spec.starting_deadline_seconds is not None:
        earliest = max(earliest, now - cron_job.spec.starting_deadline_seconds)
    first = schedule.next(earliest)
    second = schedule.next(first) if first is not None else None
    if first is None or second is None:
        raise Invalid("time difference between two schedules is less than 1 second")
    if now < first:
        return Missed(earliest)
    if now < second:
        return Missed(earliest, first)
    between = second - first
    count = int((now - first) // between) + 1
    return Missed(earliest, _newest(schedule, first + (count - 2) * between, now), count)


def _newest(schedule: Schedule, start: float, now: float) -> float | None:
    """The last time after `start` that is not after `now`."""
    found, moment = None, schedule.next(start)
    while moment is not None and moment <= now:
        found, moment = moment, schedule.next(moment)
    return found


def seconds_to_next(cron_job: batch_v1.CronJob, schedule: Schedule, now: float) -> float | None:
    """Until the schedule is to be looked at again; None for never."""
    missed = since_last(cron_job, schedule, now, deadline=False)
    base = missed.recent
    if base is None:
        base = now if missed.count else missed.earliest
    moment = schedule.next(base)
    return None if moment is None else max(0.0, moment + _DELAY - now)
