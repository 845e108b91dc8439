"""The decision over a Job. Pure and synchronous. As `syncJob` in `pkg/controller/job/job_controller.go`."""

from __future__ import annotations

import msgspec

from setpoint.api.types import batch_v1, core_v1
from setpoint.client.expectations import TIMEOUT
from setpoint.controllers import claims
from setpoint.controllers.event import Event
from setpoint.controllers.job import conditions, ending, manage, tracking
from setpoint.controllers.job.manage import Change
from setpoint.controllers.job.observation import View, with_finalizer
from setpoint.controllers.job.plan import Observed, Plan
from setpoint.controllers.owned_pods.state import is_ready
from setpoint.kit.clock import rfc3339

OURS = "kubernetes.io/job-controller"


def is_ours(job: batch_v1.Job) -> bool:
    """Whether no other controller was named for it."""
    return job.spec.managed_by in (None, OURS)


def diff(observed: Observed) -> Plan | None:
    """What it takes to get the Job on; None for one that has ended or is another controller's."""
    job = observed.job
    if not is_ours(job) or conditions.is_finished(job):
        return None
    claim = claims.sort(job, claims.selector_of(job.spec.selector), observed.pods)
    adopted = {pod.metadata.uid for pod in claim.adopt}
    owned = [with_finalizer(pod) if pod.metadata.uid in adopted else pod for pod in claim.owned]
    draft = _Draft(observed, View(job, owned, observed.untracked, observed.now))
    draft.decide()
    return draft.plan(claim)


class _Draft:
    """A Job's cycle, decided step by step."""

    def __init__(self, observed: Observed, view: View) -> None:
        self.observed = observed
        self.view = view
        self.job = view.job
        self.now = observed.now
        self.record = observed.record.after(view.new_succeeded, view.new_failed)
        self.status = self._started()
        self.change = Change()
        self.ending: batch_v1.JobCondition | None = None
        self.deleted: list[core_v1.Pod] = []
        self.events: list[Event] = []
        self.waits: list[float] = [] if observed.trusted else [TIMEOUT + 1]

    def _started(self) -> batch_v1.JobStatus:
        status = self.job.status
        if status.start_time is None and not self.job.spec.suspend:
            return msgspec.structs.replace(status, start_time=rfc3339(self.now))
        return status

    def decide(self) -> None:
        self.ending = ending.decided(self.view)
        if self.ending is not None:
            self.deleted = [*self.view.active]
            if not self.observed.trusted:
                self.ending = None  # there may be pods that the cache does not show: it ends when they are known
            return
        managed = self.observed.trusted and not self.job.metadata.deletion_timestamp
        if managed:
            self.change = manage.decide(self.view, self.record)
            self.waits += [self.change.wait] if self.change.wait is not None else []
        if ending.is_complete(self.view, self._active()):
            self.ending = ending.completion(self.now)
        elif managed:
            self._suspend_or_resume()
        if self.ending is None and (left := ending.seconds_left(self._as_started())) is not None:
            self.waits.append(max(left, 0.001))

    def _as_started(self) -> View:
        """The view of the Job as it will be once its start is written down."""
        return View(msgspec.structs.replace(self.job, status=self.status), (), frozenset(), self.now)

    def _active(self) -> int:
        if self.change.held:
            return 0
        return len(self.view.active) - len(self.deleted) - len(self.change.discard) + len(self.change.create)

    def _suspend_or_resume(self) -> None:
        suspended = bool(self.job.spec.suspend)
        word, value = ("suspended", "True") if suspended else ("resumed", "False")
        condition = conditions.new(conditions.SUSPENDED, f"Job{word.title()}", f"Job {word}", self.now, value)
        listed = conditions.ensure(self.status.conditions, condition)
        if listed is self.status.conditions:
            return
        self.events.append(Event("Normal", word.title(), f"Job {word}"))
        start = None if suspended else rfc3339(self.now)
        self.status = msgspec.structs.replace(self.status, conditions=listed, start_time=start)

    def plan(self, claim: claims.Claim[core_v1.Pod]) -> Plan:
        """The cycle as a plan."""
        gone = [*self.deleted, *self.change.discard]
        status = msgspec.structs.replace(
            self.status,
            active=self._active(),
            ready=self.view.ready - sum(is_ready(pod) for pod in gone),
            terminating=len(self.view.terminating) + len(gone),
        )
        counted = tracking.count(self.view, status, self.ending)
        discarded = {pod.metadata.uid for pod in self.change.discard}
        final, status = self._interim(counted.status)
        return Plan(
            self.job,
            status,
            self.record,
            claim.adopt,
            claim.release,
            self.change.create,
            self.change.discard,
            tuple(self.deleted),
            frozenset(pod.metadata.uid for pod in self.view.tracked),
            tuple(pod for pod in counted.free if pod.metadata.uid not in discarded),
            final if counted.complete else None,
            tuple(self.events),
            min(self.waits, default=None),
        )

    def _interim(self, status: batch_v1.JobStatus) -> tuple[batch_v1.JobCondition | None, batch_v1.JobStatus]:
        """What the Job ends with is announced before its pods are freed: their end must not be taken for something else."""
        if self.ending is None or self.ending.type == conditions.FAILED:
            return self.ending, status
        final = conditions.final(self.ending, self.now)
        if conditions.holding(status.conditions, self.ending.type) is not None:
            return final, status
        return final, msgspec.structs.replace(status, conditions=(*status.conditions, self.ending))
