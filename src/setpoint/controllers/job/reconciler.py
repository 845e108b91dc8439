"""Observe, diff, act for one Job."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from setpoint.api.machinery.status import StatusError
from setpoint.api.types import batch_v1, core_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Result
from setpoint.client.events import EventRecorder
from setpoint.client.expectations import Expectations
from setpoint.client.objects import key_of
from setpoint.client.store import Store
from setpoint.controllers.claims import Claims, own_and_orphans
from setpoint.controllers.freshness import Freshness
from setpoint.controllers.job import conditions, status, tracking
from setpoint.controllers.job import diff as decision
from setpoint.controllers.job.backoff import Record
from setpoint.controllers.job.plan import Observed, Plan
from setpoint.controllers.job.pods import FINALIZER
from setpoint.controllers.job.untracking import Untracking, untrack
from setpoint.controllers.owned_pods.control import PodControl
from setpoint.kit.clock import Clock


class JobReconciler:
    """Reads two caches; writes pods and its own status."""

    def __init__(
        self,
        client: ClientProtocol,
        clock: Clock,
        jobs: Store[batch_v1.Job],
        pods: Store[core_v1.Pod],
        recorder: EventRecorder,
        expectations: Expectations,
        untracking: Untracking,
    ) -> None:
        self._client = client
        self._clock = clock
        self._jobs = jobs
        self._pods = pods
        self._recorder = recorder
        self._expectations = expectations
        self._untracking = untracking
        self._fresh = Freshness()
        self._records: dict[str, Record] = {}
        """By the Job's uid, as far as something failed."""
        self._uids: dict[str, str] = {}
        self._control = PodControl(client, recorder, expectations)
        self._claims = Claims(client, batch_v1.JOBS, core_v1.PODS, finalizer=FINALIZER)

    def observe(self, key: str) -> Observed | None:
        job = self._jobs.get(key)
        if job is None or conditions.is_finished(job):
            self._forget(key)
            return None
        if self._fresh.is_stale(job):
            return None
        trusted = self._expectations.satisfied(key)  # asked before the cache is read
        meta = job.metadata
        pods = own_and_orphans(self._pods, meta)
        record = self._records.get(meta.uid, Record())
        return Observed(job, pods, self._untracking.of(meta.uid), record, trusted, self._clock.now())

    def _forget(self, key: str) -> None:
        self._expectations.forget(key)
        self._fresh.forget(key)
        if (uid := self._uids.pop(key, None)) is not None:
            self._records.pop(uid, None)

    def diff(self, observed: Observed) -> Plan | None:
        plan = decision.diff(observed)
        return None if plan is None or plan.idle else plan

    async def act(self, plan: Plan) -> Result | None:
        job = plan.job
        if not await self._claims.settle(job, plan.adopt, plan.release):
            return Result(requeue_after=0.1)
        failure = await self._discard(job, plan.discard) or await self._control.delete(job, plan.delete)
        if failure is not None:
            raise failure  # what is still there must not be written off
        created = await self._create(job, plan)
        written = await self._write(job, created.status)
        if written is None:
            return None
        self._remember(job, plan.record)
        for event in plan.events:
            self._recorder.event(job, event.kind, event.reason, event.message)
        await self._count(written, plan)
        if created.failure is not None:
            raise created.failure
        return Result(plan.requeue_after)

    def _remember(self, job: batch_v1.Job, record: Record) -> None:
        key, uid = key_of(job), job.metadata.uid
        if (former := self._uids.pop(key, None)) is not None:  # perhaps that of a namesake
            self._records.pop(former, None)
        if record.failures:
            self._records[uid] = record
            self._uids[key] = uid

    async def _create(self, job: batch_v1.Job, plan: Plan) -> _Created:
        """Make pods; the status counts those that were made."""
        made, failure = await self._control.create_counted(job, plan.create)
        missing = len(plan.create) - made
        return _Created(msgspec.structs.replace(plan.status, active=plan.status.active - missing), failure)

    async def _discard(self, job: batch_v1.Job, pods: Sequence[core_v1.Pod]) -> Exception | None:
        """Delete pods that are not to be counted: they lose the finalizer first."""
        outcomes = await asyncio.gather(*(untrack(self._client, pod) for pod in pods), return_exceptions=True)
        freed = [pod for pod, outcome in zip(pods, outcomes, strict=True) if not isinstance(outcome, BaseException)]
        failure = await self._control.delete(job, freed)
        return failure or next((outcome for outcome in outcomes if isinstance(outcome, Exception)), None)

    async def _write(self, job: batch_v1.Job, new: batch_v1.JobStatus) -> batch_v1.Job | None:
        """The Job with its new status; None if it is gone."""
        if new == job.status:
            return job
        meta = job.metadata
        try:
            written = await self._client.patch(
                batch_v1.JOBS, meta.name, status.patch(job, new), meta.namespace, subresource="status"
            )
        except StatusError as error:
            if error.reason == "NotFound":
                return None
            raise
        self._fresh.note(written)
        return written

    async def _count(self, job: batch_v1.Job, plan: Plan) -> None:
        """Free the pods that are listed by now, count them, and finish the Job if that was all."""
        freed, failure = await self._free(job, plan.untrack)
        new = tracking.settled(job.status, plan.tracked - freed)
        final = tracking.finished(new, plan.finish) if plan.finish is not None and failure is None else None
        written = await self._write(job, final or new)
        if final is not None and written is not None and plan.finish is not None:
            self._tell_of_end(written, plan.finish)
        if failure is not None:
            raise failure

    async def _free(self, job: batch_v1.Job, pods: Iterable[core_v1.Pod]) -> tuple[frozenset[str], Exception | None]:
        """Take the finalizer off; the uids of those that lost it, and the first error."""
        pods = list(pods)
        self._untracking.expect(job.metadata.uid, [pod.metadata.uid for pod in pods])
        outcomes = await asyncio.gather(*(self._free_one(job, pod) for pod in pods), return_exceptions=True)
        freed = {pod.metadata.uid for pod, outcome in zip(pods, outcomes, strict=True) if not isinstance(outcome, BaseException)}
        return frozenset(freed), next((outcome for outcome in outcomes if isinstance(outcome, Exception)), None)

    async def _free_one(self, job: batch_v1.Job, pod: core_v1.Pod) -> None:
        try:
            there = await untrack(self._client, pod)
        except BaseException:
            self._untracking.seen(job.metadata.uid, pod.metadata.uid)
            raise
        if not there:  # it was deleted meanwhile: no event of the watch need come any more
            self._untracking.seen(job.metadata.uid, pod.metadata.uid)

    def _tell_of_end(self, job: batch_v1.Job, ending: batch_v1.JobCondition) -> None:
        if ending.type == conditions.FAILED:
            self._recorder.event(job, "Warning", ending.reason, ending.message)
            return
        if job.spec.completions is not None and job.status.succeeded > job.spec.completions:
            message = "Too many succeeded pods running after completion count reached"
            self._recorder.event(job, "Warning", "TooManySucceededPods", message)
        self._recorder.event(job, "Normal", "Completed", "Job completed")


class _Created(msgspec.Struct, frozen=True):
    status: batch_v1.JobStatus
    failure: Any
