"""What is observed of a CronJob, and what is to be written for it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from setpoint.api.types import batch_v1, core_v1
from setpoint.controllers.event import Event


class Observed(Struct, frozen=True):
    """`jobs` are those that the CronJob controls."""

    cron_job: batch_v1.CronJob
    jobs: Sequence[batch_v1.Job]
    now: float


class Plan(Struct, frozen=True):
    """`verify` are active Jobs that the cache does not have: what is due is decided when the server said what became of them.

    `unexpected` are Jobs that the status does not list; `start` is the scheduled time of the Job to make; `replace` are to go
    first.
    """

    cron_job: batch_v1.CronJob
    active: tuple[core_v1.ObjectReference, ...]
    last_success: str | None
    events: tuple[Event, ...] = ()
    verify: tuple[core_v1.ObjectReference, ...] = ()
    unexpected: tuple[batch_v1.Job, ...] = ()
    history: tuple[batch_v1.Job, ...] = ()
    replace: tuple[core_v1.ObjectReference, ...] = ()
    start: float | None = None
    requeue_after: float | None = None

    @property
    def idle(self) -> bool:
        work = (self.events, self.verify, self.unexpected, self.history, self.replace, self.start, self.requeue_after)
        status = self.cron_job.status
        return not any(work) and (self.active, self.last_success) == (status.active, status.last_successful_time)
