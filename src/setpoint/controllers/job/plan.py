"""What is observed of a Job, and what is to be written for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from msgspec import Struct

from setpoint.api.types import batch_v1, core_v1
from setpoint.controllers.event import Event
from setpoint.controllers.job.backoff import Record


class Observed(Struct, frozen=True):
    """`pods` are the Job's own and the orphans of its namespace.

    `untracked` are uids of pods whose finalizer was taken, though the cache may not show it; `record` is what is known of
    failures; `trusted` says that no pod is missing in the cache.
    """

    job: batch_v1.Job
    pods: Sequence[core_v1.Pod]
    untracked: AbstractSet[str]
    record: Record
    trusted: bool
    now: float


class Plan(Struct, frozen=True):
    """First pods are made or deleted, then `status` is written, then the counted pods are freed, then the Job may be finished.

    `discard` are pods that go without being counted, `delete` those that go because the Job ends. `status` holds if all pods that
    are to be made are made. `tracked` are uids of pods with a finalizer, `untrack` those that lose it now.
    """

    job: batch_v1.Job
    status: batch_v1.JobStatus
    record: Record
    adopt: tuple[core_v1.Pod, ...] = ()
    release: tuple[core_v1.Pod, ...] = ()
    create: tuple[Mapping[str, Any], ...] = ()
    discard: tuple[core_v1.Pod, ...] = ()
    delete: tuple[core_v1.Pod, ...] = ()
    tracked: frozenset[str] = frozenset()
    untrack: tuple[core_v1.Pod, ...] = ()
    finish: batch_v1.JobCondition | None = None
    events: tuple[Event, ...] = ()
    requeue_after: float | None = None

    @property
    def idle(self) -> bool:
        work = (self.adopt, self.release, self.create, self.discard, self.delete, self.untrack, self.finish, self.requeue_after)
        return not any(work) and self.status == self.job.status
