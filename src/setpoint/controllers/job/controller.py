"""Wiring of the Job controller: which change of which object puts which key into which queue."""

from __future__ import annotations

from typing import NamedTuple

from setpoint.api.types import batch_v1, core_v1
from setpoint.client.controller import Controller
from setpoint.client.expectations import Expectations
from setpoint.client.objects import key_of
from setpoint.client.owners import controller_of
from setpoint.client.store import Store
from setpoint.client.workqueue import WorkQueue
from setpoint.controllers import claims
from setpoint.controllers.claims import BY_CONTROLLER, by_controller
from setpoint.controllers.component import Context, Several
from setpoint.controllers.job import conditions
from setpoint.controllers.job.orphans import OrphanReconciler, job_of
from setpoint.controllers.job.plan import Observed, Plan
from setpoint.controllers.job.pods import is_tracked
from setpoint.controllers.job.reconciler import JobReconciler
from setpoint.controllers.job.untracking import Untracking

NAME = "job-controller"
TOGETHER = 0.1
"""Seconds for which what happens to a Job's pods is gathered and then judged as a whole. (In Kubernetes it is a second.)"""
RETRY, LONGEST_RETRY = 1.0, 60.0
"""Seconds until what the server refused is tried again; the refusals are events, and quotas do not change every moment."""


def new(context: Context) -> Several:
    """Jobs, and the pods that they left behind; handlers registered, nothing runs yet."""
    jobs = context.informers.of(batch_v1.JOBS)
    pods = context.informers.of(core_v1.PODS)
    pods.add_index(BY_CONTROLLER, by_controller)
    expectations, untracking = Expectations(context.clock), Untracking()
    recorder = context.recorder(NAME)
    reconciler = JobReconciler(context.client, context.clock, jobs.store, pods.store, recorder, expectations, untracking)
    queue = WorkQueue[str](context.clock, "jobs", base_delay=RETRY, max_delay=LONGEST_RETRY)
    controller: Controller[Observed, Plan] = Controller("jobs", reconciler, context.clock, informers=(jobs, pods), queue=queue)
    orphans: Controller[core_v1.Pod, core_v1.Pod] = Controller(
        "orphans", OrphanReconciler(context.client, jobs.store, pods.store), context.clock, workers=1, informers=(jobs, pods)
    )
    handlers = Handlers(controller, orphans, Caches(jobs.store, pods.store), expectations, untracking)
    jobs.on_change(handlers.job_changed)
    pods.on_change(handlers.pod_changed)
    return Several(NAME, (controller, orphans))


class Caches(NamedTuple):
    """What the handlers look owners and pods up in."""

    jobs: Store[batch_v1.Job]
    pods: Store[core_v1.Pod]


class Handlers:
    """Changes to keys, and to what is no longer expected."""

    def __init__(
        self,
        controller: Controller[Observed, Plan],
        orphans: Controller[core_v1.Pod, core_v1.Pod],
        caches: Caches,
        expectations: Expectations,
        untracking: Untracking,
    ) -> None:
        self._controller = controller
        self._orphans = orphans
        self._jobs, self._pods = caches
        self._expectations = expectations
        self._untracking = untracking

    def job_changed(self, _: str, old: batch_v1.Job | None, new: batch_v1.Job | None) -> None:
        if old is not None and (new is None or new.metadata.uid != old.metadata.uid):
            self._expectations.forget(key_of(old))
            self._untracking.forget(old.metadata.uid)
            self._leave(old)
        if new is not None and conditions.is_finished(new):
            self._leave(new)
        changed = new if new is not None else old
        if changed is None:
            return
        if old is None or new is None or old.metadata.generation != new.metadata.generation:
            self._controller.enqueue(key_of(changed))
        else:
            self._together(new)  # its status, as a rule, of which its pods were the cause

    def _together(self, job: batch_v1.Job) -> None:
        self._controller.enqueue_soon(key_of(job), TOGETHER)

    def _leave(self, job: batch_v1.Job) -> None:
        """Nobody counts the pods of this Job any more."""
        for pod in self._pods.by_index(BY_CONTROLLER, job.metadata.uid):
            if is_tracked(pod):
                self._orphans.enqueue(key_of(pod))

    def pod_changed(self, _: str, old: core_v1.Pod | None, new: core_v1.Pod | None) -> None:
        if new is None:
            if old is not None:
                self._gone(old)
        elif old is None:
            self._added(new)
        elif old.metadata.uid != new.metadata.uid:
            self._gone(old)
            self._added(new)
        else:
            self._updated(old, new)

    def _added(self, pod: core_v1.Pod) -> None:
        job = job_of(pod, self._jobs)
        if job is not None:
            if not pod.metadata.deletion_timestamp:
                self._expectations.creation_observed(key_of(job))
            self._touched(job, pod)
        elif controller_of(pod.metadata) is None:
            self._enqueue_matching(pod)
        self._look_after(pod, job)

    def _updated(self, old: core_v1.Pod, new: core_v1.Pod) -> None:
        former, job = job_of(old, self._jobs), job_of(new, self._jobs)
        if former is not None and (job is None or former.metadata.uid != job.metadata.uid):
            self._together(former)
        if job is not None:
            self._touched(job, new)
        elif controller_of(new.metadata) is None and (former is not None or old.metadata.labels != new.metadata.labels):
            self._enqueue_matching(new)
        self._look_after(new, job)

    def _gone(self, pod: core_v1.Pod) -> None:
        job = job_of(pod, self._jobs)
        if job is not None:
            self._expectations.deletion_observed(key_of(job), pod.metadata.uid)
            self._untracking.seen(job.metadata.uid, pod.metadata.uid)
            self._together(job)

    def _touched(self, job: batch_v1.Job, pod: core_v1.Pod) -> None:
        if pod.metadata.deletion_timestamp:
            self._expectations.deletion_observed(key_of(job), pod.metadata.uid)
        if not is_tracked(pod):
            self._untracking.seen(job.metadata.uid, pod.metadata.uid)
        self._together(job)

    def _look_after(self, pod: core_v1.Pod, job: batch_v1.Job | None) -> None:
        """A pod that nobody will count is freed. The Job may only not be known yet: the reconciler asks again."""
        if is_tracked(pod) and (job is None or conditions.is_finished(job)):
            self._orphans.enqueue(key_of(pod))

    def _enqueue_matching(self, pod: core_v1.Pod) -> None:
        for job in self._jobs.list(pod.metadata.namespace) if pod.metadata.labels else ():
            if claims.matches(claims.selector_of(job.spec.selector), pod):
                self._together(job)
