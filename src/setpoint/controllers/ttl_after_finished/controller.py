"""The TTL-after-finished controller. As `pkg/controller/ttlafterfinished`."""

from __future__ import annotations

from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types import batch_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.objects import key_of
from setpoint.client.store import Store
from setpoint.controllers.component import Context
from setpoint.controllers.job import conditions
from setpoint.kit.clock import Clock, parse_rfc3339

NAME = "ttl-after-finished-controller"


class Observed(Struct, frozen=True):
    """A finished Job with a time to live."""

    job: batch_v1.Job
    now: float


class Plan(Struct, frozen=True):
    """`wait` seconds until it goes; 0 for now."""

    job: batch_v1.Job
    wait: float


def expires(job: batch_v1.Job) -> float | None:
    """When the Job is to go, in seconds since the epoch; None for not at all, or not yet known."""
    if job.spec.ttl_seconds_after_finished is None or job.metadata.deletion_timestamp:
        return None
    for kind in (conditions.COMPLETE, conditions.FAILED):
        if (ending := conditions.holding(job.status.conditions, kind)) is not None and ending.last_transition_time:
            return parse_rfc3339(ending.last_transition_time) + job.spec.ttl_seconds_after_finished
    return None


class TTLReconciler:
    """Deletes what is over, with its dependents."""

    def __init__(self, client: ClientProtocol, clock: Clock, jobs: Store[batch_v1.Job]) -> None:
        self._client = client
        self._clock = clock
        self._jobs = jobs

    def observe(self, key: str) -> Observed | None:
        job = self._jobs.get(key)
        return Observed(job, self._clock.now()) if job is not None else None

    def diff(self, observed: Observed) -> Plan | None:
        moment = expires(observed.job)
        return None if moment is None else Plan(observed.job, max(0.0, moment - observed.now))

    async def act(self, plan: Plan) -> Result | None:
        if plan.wait:
            return Result(plan.wait)
        meta = plan.job.metadata
        try:
            fresh = await self._client.get(batch_v1.JOBS, meta.name, meta.namespace)
            moment = expires(fresh)  # the time to live may have been raised meanwhile
            if fresh.metadata.uid == meta.uid and moment is not None and moment <= self._clock.now():
                version = fresh.metadata.resource_version
                await self._client.delete(
                    batch_v1.JOBS,
                    meta.name,
                    meta.namespace,
                    uid=meta.uid,
                    resource_version=version,
                    propagation="Foreground",
                )
        except StatusError as error:
            if error.reason != "NotFound":
                raise
        return None


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handler registered; nothing runs yet."""
    jobs = context.informers.of(batch_v1.JOBS)
    reconciler = TTLReconciler(context.client, context.clock, jobs.store)
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, informers=(jobs,))

    def job_changed(_: str, __: batch_v1.Job | None, job: batch_v1.Job | None) -> None:
        if job is not None and expires(job) is not None:
            controller.enqueue(key_of(job))

    jobs.on_change(job_changed)
    return controller
