"""Counting ended pods exactly once. Pure.

As `trackJobStatusAndRemoveFinalizers` in `pkg/controller/job/job_controller.go`. A pod that has ended is first listed in
`status.uncountedTerminatedPods`; then it loses its finalizer; then it leaves the list for the counters. Whatever is cut off in
between, the next cycle finds the pod listed, or without its finalizer, and goes on from there. (An index that has succeeded needs
no list: it is in `completedIndexes` or not.)
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec
from msgspec import Struct

from setpoint.api.types import batch_v1, core_v1
from setpoint.controllers.job import conditions, indexes, policies
from setpoint.controllers.job.observation import View
from setpoint.controllers.job.pods import has_valid_index, index_of, is_failed

MOST = 500


class Counted(Struct, frozen=True):
    """The status once the pods in `free` are listed; `complete` says that none is left for another cycle."""

    status: batch_v1.JobStatus
    free: tuple[core_v1.Pod, ...]
    complete: bool = True


def count(view: View, status: batch_v1.JobStatus, ending: batch_v1.JobCondition | None) -> Counted:
    """List what has ended. `ending` is what the Job ends with: then pods that still are there count as failed."""
    tracked = {pod.metadata.uid for pod in view.tracked}
    status = settled(status, tracked)
    uncounted = status.uncounted_terminated_pods or batch_v1.UncountedTerminatedPods()
    succeeded, failed, new = [*uncounted.succeeded], [*uncounted.failed], set[int]()
    free: list[core_v1.Pod] = []
    complete = True
    for pod in sorted(view.tracked, key=lambda pod: index_of(pod) or 0) if view.indexed else view.tracked:
        if not _may_go(view, pod, ending):
            continue
        free.append(pod)
        uid, index = pod.metadata.uid, index_of(pod)
        if pod.status.phase == "Succeeded" and uid not in failed:
            if not view.indexed:
                succeeded += [uid] if uid not in succeeded else []
            elif index is not None and has_valid_index(view.job, pod) and index not in view.former_indexes:
                new.add(index)
        elif _counts_as_failed(view, pod, ending) and uid not in failed:
            failed.append(uid)
        if len(new) + len(succeeded) + len(failed) >= MOST:
            complete = False
            break
    listed = batch_v1.UncountedTerminatedPods(succeeded=tuple(succeeded), failed=tuple(failed))
    status = msgspec.structs.replace(status, uncounted_terminated_pods=listed)
    return Counted(_with_indexes(view, status, new) if view.indexed else status, tuple(free), complete)


def _may_go(view: View, pod: core_v1.Pod, ending: batch_v1.JobCondition | None) -> bool:
    """Whether the pod need not be kept any more."""
    if view.job.metadata.deletion_timestamp or ending is not None or pod.status.phase == "Succeeded":
        return True
    if not is_failed(pod, view.job):
        return False
    index = index_of(pod)
    kept = view.kept.get(index) if index is not None else None
    return kept is None or kept.metadata.uid != pod.metadata.uid


def _counts_as_failed(view: View, pod: core_v1.Pod, ending: batch_v1.JobCondition | None) -> bool:
    fails = ending is not None and ending.type != conditions.CRITERIA_MET
    if not (is_failed(pod, view.job) or fails) or (view.indexed and not has_valid_index(view.job, pod)):
        return False
    return policies.judge(view.job, pod).counts


def _with_indexes(view: View, status: batch_v1.JobStatus, new: Collection[int]) -> batch_v1.JobStatus:
    done = view.former_indexes | indexes.of(new)
    failed = view.failed_indexes
    return msgspec.structs.replace(
        status,
        succeeded=done.total,
        completed_indexes=str(done),
        failed_indexes=None if failed is None else str(failed),
    )


def settled(status: batch_v1.JobStatus, tracked: Collection[str]) -> batch_v1.JobStatus:
    """Move listed pods that have no finalizer any more into the counters. `tracked` are the uids of those that have."""
    listed = status.uncounted_terminated_pods or batch_v1.UncountedTerminatedPods()
    succeeded = tuple(uid for uid in listed.succeeded if uid in tracked)
    failed = tuple(uid for uid in listed.failed if uid in tracked)
    return msgspec.structs.replace(
        status,
        succeeded=status.succeeded + len(listed.succeeded) - len(succeeded),
        failed=status.failed + len(listed.failed) - len(failed),
        uncounted_terminated_pods=batch_v1.UncountedTerminatedPods(succeeded=succeeded, failed=failed),
    )


def finished(status: batch_v1.JobStatus, ending: batch_v1.JobCondition) -> batch_v1.JobStatus | None:
    """The final status; None while pods are not counted yet, or still there."""
    listed = status.uncounted_terminated_pods
    if (listed is not None and (listed.succeeded or listed.failed)) or status.terminating or status.active:
        return None
    done = ending.type == conditions.COMPLETE
    return msgspec.structs.replace(
        status,
        conditions=conditions.ensure(status.conditions, ending),
        completion_time=ending.last_transition_time if done else status.completion_time,
    )
