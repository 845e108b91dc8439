"""Observe, diff, act for one CronJob."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from setpoint.api.machinery.status import StatusError
from setpoint.api.types import batch_v1, core_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Result
from setpoint.client.events import EventRecorder
from setpoint.client.owners import controller_reference, is_controlled_by
from setpoint.client.store import Store
from setpoint.controllers.claims import BY_CONTROLLER
from setpoint.controllers.cronjob import diff as decision
from setpoint.controllers.cronjob import missed
from setpoint.controllers.cronjob.plan import Observed, Plan
from setpoint.controllers.cronjob.schedule import location, parse
from setpoint.controllers.freshness import Freshness
from setpoint.controllers.refusals import is_namespace_terminating
from setpoint.kit.clock import Clock, rfc3339

SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
Refs = tuple[core_v1.ObjectReference, ...]


class CronJobReconciler:
    """Reads two caches; writes Jobs and its own status."""

    def __init__(
        self,
        client: ClientProtocol,
        clock: Clock,
        cron_jobs: Store[batch_v1.CronJob],
        jobs: Store[batch_v1.Job],
        recorder: EventRecorder,
    ) -> None:
        self._client = client
        self._clock = clock
        self._cron_jobs = cron_jobs
        self._jobs = jobs
        self._recorder = recorder
        self._fresh = Freshness()

    def observe(self, key: str) -> Observed | None:
        cron_job = self._cron_jobs.get(key)
        if cron_job is None:
            self._fresh.forget(key)
            return None
        if self._fresh.is_stale(cron_job):
            return None
        jobs = self._jobs.by_index(BY_CONTROLLER, cron_job.metadata.uid)
        return Observed(cron_job, sorted(jobs, key=lambda job: job.metadata.name), self._clock.now())

    def diff(self, observed: Observed) -> Plan | None:
        plan = decision.diff(observed)
        return None if plan.idle else plan

    async def act(self, plan: Plan) -> Result | None:
        owner, active = plan.cron_job, plan.active
        for job in plan.history:
            active = await self._delete(owner, active, job.metadata.name, job.metadata.uid)
        if plan.unexpected and not await self._tell_unexpected(plan):
            return Result(requeue_after=1.0)  # the cache is behind: plan anew when it is not
        self._tell(plan)
        if plan.verify and (wait := await self._verify(plan, active)) is not None:
            return Result(wait)
        if plan.verify and not owner.metadata.deletion_timestamp:
            plan = decision.scheduled(msgspec.structs.replace(plan, active=active, events=(), verify=()), self._clock.now())
            self._tell(plan)
        return await self._start(plan, active)

    def _tell(self, plan: Plan) -> None:
        for event in plan.events:
            self._recorder.event(plan.cron_job, event.kind, event.reason, event.message)

    async def _tell_unexpected(self, plan: Plan) -> bool:
        """Tell of Jobs that the status does not list; False if it does by now."""
        meta = plan.cron_job.metadata
        fresh = await self._client.get(batch_v1.CRONJOBS, meta.name, meta.namespace)
        listed = {ref.uid for ref in fresh.status.active}
        for job in plan.unexpected:
            if job.metadata.uid in listed:
                return False
            message = f"Saw a job that the controller did not create or forgot: {job.metadata.name}"
            self._recorder.event(plan.cron_job, "Warning", "UnexpectedJob", message)
        return True

    async def _verify(self, plan: Plan, active: Refs) -> float | None:
        """Ask the server for active Jobs that the cache does not have.

        In how many seconds to plan anew: at once when some are gone, later when the cache is only behind. None where neither is
        so: a Job that was taken from the CronJob stays active, and holds up what its policy says, until it is deleted.
        """
        owner, left, behind = plan.cron_job, active, False
        for ref in plan.verify:
            there = await self._find(ref, owner.metadata.namespace)
            if there is None:
                self._recorder.event(owner, "Normal", "MissingJob", f"Active job went missing: {ref.name}")
                left = tuple(each for each in left if each.uid != ref.uid)
            elif is_controlled_by(there.metadata, owner):
                behind = True
        if left == active and not behind:
            return None
        await self._write(plan, left)
        return 1.0 if behind else 0.01

    async def _find(self, ref: core_v1.ObjectReference, namespace: str) -> batch_v1.Job | None:
        """The very Job, not another that has its name by now."""
        try:
            there = await self._client.get(batch_v1.JOBS, ref.name, namespace)
        except StatusError as error:
            if error.reason != "NotFound":
                raise
            return None
        return there if there.metadata.uid == ref.uid else None

    async def _delete(self, owner: batch_v1.CronJob, active: Refs, name: str, uid: str) -> Refs:
        """Delete a Job with its pods; the active ones left."""
        try:
            await self._client.delete(batch_v1.JOBS, name, owner.metadata.namespace, uid=uid, propagation="Background")
        except StatusError as error:
            if error.reason != "NotFound":
                self._recorder.event(owner, "Warning", "FailedDelete", f"Deleted job: {error.message}")
                raise
        else:
            self._recorder.event(owner, "Normal", "SuccessfulDelete", f"Deleted job {name}")
        return tuple(ref for ref in active if ref.uid != uid)

    async def _start(self, plan: Plan, active: Refs) -> Result | None:
        owner, scheduled = plan.cron_job, plan.start
        for ref in plan.replace:
            active = await self._delete(owner, active, ref.name, ref.uid)
        if scheduled is None:
            await self._write(plan, active)
            return Result(plan.requeue_after)
        job = await self._create(owner, scheduled)
        if job is None or any(ref.uid == job.metadata.uid for ref in active):
            await self._write(plan, active)
            return Result(plan.requeue_after)
        await self._write(plan, (*active, _reference(job)), rfc3339(scheduled))
        started = msgspec.structs.replace(
            owner, status=msgspec.structs.replace(owner.status, last_schedule_time=rfc3339(scheduled))
        )
        schedule = parse(owner.spec.schedule, owner.spec.time_zone or "")
        return Result(missed.seconds_to_next(started, schedule, self._clock.now()))

    async def _create(self, owner: batch_v1.CronJob, scheduled: float) -> batch_v1.Job | None:
        """The Job of a scheduled time; one that was made before its status was written is taken up. None: leave it alone."""
        body = _job_body(owner, scheduled)
        try:
            job = await self._client.create(batch_v1.JOBS, body, owner.metadata.namespace)
        except StatusError as error:
            if is_namespace_terminating(error):
                return None
            if error.reason != "AlreadyExists":
                self._recorder.event(owner, "Warning", "FailedCreate", f"Error creating job: {error.message}")
                raise
            there = await self._client.get(batch_v1.JOBS, body["metadata"]["name"], owner.metadata.namespace)
            return there if is_controlled_by(there.metadata, owner) else None
        self._recorder.event(owner, "Normal", "SuccessfulCreate", f"Created job {job.metadata.name}")
        return job

    async def _write(self, plan: Plan, active: Refs, scheduled: str | None = None) -> None:
        """A Job that was made must be noted: where only spec or metadata have changed since, what was decided still holds."""
        owner, status = plan.cron_job, plan.cron_job.status
        last = scheduled or status.last_schedule_time
        if (active, plan.last_success, last) == (status.active, status.last_successful_time, status.last_schedule_time):
            return
        new = {
            "active": msgspec.to_builtins(active) or None,
            "lastScheduleTime": last,
            "lastSuccessfulTime": plan.last_success,
        }
        while True:
            try:
                self._fresh.note(await self._patch_status(owner, new))
            except StatusError as error:
                if error.reason == "NotFound":
                    return
                if error.reason != "Conflict":
                    raise
                fresh = await self._client.get(batch_v1.CRONJOBS, owner.metadata.name, owner.metadata.namespace)
                if fresh.metadata.uid != owner.metadata.uid or fresh.status != status:
                    raise
                owner = fresh
            else:
                return

    async def _patch_status(self, owner: batch_v1.CronJob, new: Mapping[str, Any]) -> batch_v1.CronJob:
        meta = owner.metadata
        body = {"metadata": {"resourceVersion": meta.resource_version}, "status": new}
        return await self._client.patch(batch_v1.CRONJOBS, meta.name, body, meta.namespace, subresource="status")


def _reference(job: batch_v1.Job) -> core_v1.ObjectReference:
    meta, resource = job.metadata, batch_v1.JOBS
    return core_v1.ObjectReference(
        api_version=resource.api_version,
        kind=resource.kind,
        name=meta.name,
        namespace=meta.namespace,
        uid=meta.uid,
        resource_version=meta.resource_version,
    )


def _job_body(owner: batch_v1.CronJob, scheduled: float) -> dict[str, Any]:
    """The template's Job, named after the minute, with the time in the CronJob's zone."""
    template = owner.spec.job_template
    zone = location(owner.spec.time_zone or "")
    moment = datetime.fromtimestamp(scheduled, zone).isoformat().replace("+00:00", "Z")
    metadata: dict[str, Any] = {
        "name": decision.job_name(owner, scheduled),
        "annotations": {**template.metadata.annotations, SCHEDULED: moment},
        "ownerReferences": [controller_reference(owner, batch_v1.CRONJOBS)],
    }
    if template.metadata.labels:
        metadata["labels"] = {**template.metadata.labels}
    return {"metadata": metadata, "spec": msgspec.to_builtins(template.spec)}
