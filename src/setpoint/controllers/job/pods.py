"""What a Job wants to know of a pod: whether it is counted, of which index it is, whether and when it failed.

As `pkg/controller/job/job_controller.go`, `indexed_job_utils.go` and `backoff_utils.go`.
"""

from __future__ import annotations

from setpoint.api.types import batch_v1, core_v1
from setpoint.kit.clock import parse_rfc3339

FINALIZER = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count"


def is_tracked(pod: core_v1.Pod) -> bool:
    """Its end is not in the Job's counts yet."""
    return FINALIZER in pod.metadata.finalizers


def is_indexed(job: batch_v1.Job) -> bool:
    return job.spec.completion_mode == "Indexed"


def index_of(pod: core_v1.Pod) -> int | None:
    """The pod's completion index; None where it has none that is a number."""
    text = pod.metadata.annotations.get(INDEX, "")
    return int(text) if text.isdecimal() else None


def has_valid_index(job: batch_v1.Job, pod: core_v1.Pod) -> bool:
    index = index_of(pod)
    return index is not None and index < (job.spec.completions or 0)


def replaces_only_failed(job: batch_v1.Job) -> bool:
    return job.spec.pod_replacement_policy == "Failed"


def is_failed(pod: core_v1.Pod, job: batch_v1.Job) -> bool:
    """A deleted pod counts as failed, lest it never gets there; unless only what has failed is to be replaced."""
    if pod.status.phase == "Failed":
        return True
    if replaces_only_failed(job):
        return False
    return bool(pod.metadata.deletion_timestamp) and pod.status.phase != "Succeeded"


def _count(pod: core_v1.Pod, annotation: str) -> int:
    text = pod.metadata.annotations.get(annotation, "")
    return int(text) if text.isdecimal() else 0


def failures(pod: core_v1.Pod) -> int:
    """How many pods of its index failed before it."""
    return _count(pod, FAILURES)


def ignored_failures(pod: core_v1.Pod) -> int:
    return _count(pod, IGNORED_FAILURES)


def finished_time(pod: core_v1.Pod) -> float:
    """When it ended: its last container's end, else when it stopped being ready, was deleted, or was made."""
    ends = [status.state.terminated.finished_at if status.state.terminated else "" for status in pod.status.container_statuses]
    if ends and all(ends):
        return max(parse_rfc3339(end) for end in ends if end)
    for condition in pod.status.conditions:
        if condition.type == "Ready" and condition.status == "False" and condition.last_transition_time:
            return parse_rfc3339(condition.last_transition_time)
    if pod.metadata.deletion_timestamp:
        return parse_rfc3339(pod.metadata.deletion_timestamp) - (pod.metadata.deletion_grace_period_seconds or 0)
    return parse_rfc3339(pod.metadata.creation_timestamp) if pod.metadata.creation_timestamp else 0.0
