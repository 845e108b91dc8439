"""Whether a Job is about to end, and with what. Pure. The order of the questions is that of `syncJob`."""

from __future__ import annotations

from setpoint.api.types import batch_v1
from setpoint.controllers.job import conditions, policies
from setpoint.controllers.job.observation import View
from setpoint.controllers.job.pods import is_failed
from setpoint.kit.clock import parse_rfc3339


def decided(view: View) -> batch_v1.JobCondition | None:
    """The condition that the Job ends with; None while it goes on. What was decided before is not asked again."""
    listed, now = view.job.status.conditions, view.now
    if (met := conditions.holding(listed, conditions.CRITERIA_MET)) is not None:
        return met
    if (target := conditions.holding(listed, conditions.FAILURE_TARGET)) is not None:
        return conditions.final(target, now)
    failed = [pod for pod in view.pods if is_failed(pod, view.job)]
    if message := policies.failing(view.job, failed):
        return conditions.new(conditions.FAILURE_TARGET, "PodFailurePolicy", message, now)
    if (why := _over_limit(view) or _over_index_limit(view)) is not None:
        return conditions.new(conditions.FAILURE_TARGET, *why, now)
    if view.indexed and (message := policies.success(view.job, view.succeeded_indexes)):
        return conditions.new(conditions.CRITERIA_MET, "SuccessPolicy", message, now)
    return None


def _over_limit(view: View) -> tuple[str, str] | None:
    limit = view.job.spec.backoff_limit
    if limit is not None and (view.failed > limit or _restarted_too_often(view, limit)):
        return "BackoffLimitExceeded", "Job has reached the specified backoff limit"
    if (left := seconds_left(view)) is not None and left <= 0:
        return "DeadlineExceeded", "Job was active longer than specified deadline"
    return None


def _restarted_too_often(view: View, limit: int) -> bool:
    """Containers that are restarted in place count by their restarts, as long as their pod is there."""
    if view.job.spec.template.spec.restart_policy != "OnFailure":
        return False
    statuses = [
        status
        for pod in view.pods
        if pod.status.phase in {"Running", "Pending"}
        for status in (*pod.status.init_container_statuses, *pod.status.container_statuses)
    ]
    restarts = sum(status.restart_count for status in statuses)
    return restarts >= max(limit, 1)


def seconds_left(view: View) -> float | None:
    """Until `activeDeadlineSeconds` are over; None where they do not count.

    `startTime` has whole seconds: counted from the end of its second, no Job is cut short.
    """
    job = view.job
    if job.spec.active_deadline_seconds is None or job.status.start_time is None or job.spec.suspend:
        return None
    return parse_rfc3339(job.status.start_time) + 1 + job.spec.active_deadline_seconds - view.now


def _over_index_limit(view: View) -> tuple[str, str] | None:
    failed = view.failed_indexes if view.indexed else None
    if failed is None or not failed.ranges:
        return None
    most = view.job.spec.max_failed_indexes
    if most is not None and failed.total > most:
        return "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes"
    if failed.total + view.succeeded_indexes.total >= view.completions:
        return "FailedIndexes", "Job has failed indexes"
    return None


def is_complete(view: View, active: int) -> bool:
    """Enough pods have succeeded, and none is left."""
    if active:
        return False
    completions = view.job.spec.completions
    return view.succeeded > 0 if completions is None else view.succeeded >= completions


def completion(now: float) -> batch_v1.JobCondition:
    message = "Reached expected number of succeeded pods"
    return conditions.new(conditions.CRITERIA_MET, "CompletionsReached", message, now)
