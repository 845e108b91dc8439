"""Pods that kept a Job's finalizer after the Job: they are freed of it, lest they stay for ever.

As `syncOrphanPod` in `pkg/controller/job/job_controller.go`.
"""

from __future__ import annotations

from setpoint.api.machinery.status import StatusError
from setpoint.api.types import batch_v1, core_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Result
from setpoint.client.objects import key
from setpoint.client.owners import controller_of
from setpoint.client.store import Store
from setpoint.controllers.job import conditions
from setpoint.controllers.job.diff import is_ours
from setpoint.controllers.job.pods import is_tracked
from setpoint.controllers.job.untracking import untrack


def job_of(pod: core_v1.Pod, jobs: Store[batch_v1.Job]) -> batch_v1.Job | None:
    """The Job that controls the pod, if the cache has it under its uid."""
    ref = controller_of(pod.metadata)
    if ref is None or ref.kind != batch_v1.JOBS.kind:
        return None
    job = jobs.get(key(pod.metadata.namespace, ref.name))
    return job if job is not None and job.metadata.uid == ref.uid else None


class OrphanReconciler:
    """The key is that of a pod."""

    def __init__(self, client: ClientProtocol, jobs: Store[batch_v1.Job], pods: Store[core_v1.Pod]) -> None:
        self._client = client
        self._jobs = jobs
        self._pods = pods

    def observe(self, key: str) -> core_v1.Pod | None:
        pod = self._pods.get(key)
        return pod if pod is not None and is_tracked(pod) else None

    def diff(self, pod: core_v1.Pod) -> core_v1.Pod | None:
        """The pod if nobody will count it any more, as far as the cache knows."""
        ref = controller_of(pod.metadata)
        if ref is not None and (ref.kind, ref.api_version) != (batch_v1.JOBS.kind, batch_v1.JOBS.api_version):
            return None  # another's, whatever its finalizers
        job = job_of(pod, self._jobs)
        return None if job is not None and _counts(job) else pod

    async def act(self, pod: core_v1.Pod) -> Result | None:
        if not await self._has_unknown_job(pod):
            await untrack(self._client, pod)
        return None

    async def _has_unknown_job(self, pod: core_v1.Pod) -> bool:
        """Whether the server has a Job that will count the pod, though the cache does not show it yet: two watches race.

        That Job's coming is all that is needed then.
        """
        ref = controller_of(pod.metadata)
        if ref is None or job_of(pod, self._jobs) is not None:
            return False
        try:
            job = await self._client.get(batch_v1.JOBS, ref.name, pod.metadata.namespace)
        except StatusError as error:
            if error.reason != "NotFound":
                raise
            return False
        return job.metadata.uid == ref.uid and _counts(job)


def _counts(job: batch_v1.Job) -> bool:
    """Whether it looks after its pods: one of another controller does so even when it has ended."""
    return not is_ours(job) or not conditions.is_finished(job)
