"""What follows from a Job and its pods before anything is decided: who is active, what is newly ended, which indexes are done."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

import msgspec

from setpoint.api.types import batch_v1, core_v1
from setpoint.controllers.job import indexes, pods, policies
from setpoint.controllers.job.indexes import Indexes
from setpoint.controllers.job.pods import has_valid_index, index_of, is_failed, is_indexed, is_tracked
from setpoint.controllers.owned_pods.state import is_active, is_ready, is_terminating


def with_finalizer(pod: core_v1.Pod) -> core_v1.Pod:
    """The pod as it is once it was adopted."""
    if is_tracked(pod):
        return pod
    metadata = msgspec.structs.replace(pod.metadata, finalizers=(*pod.metadata.finalizers, pods.FINALIZER))
    return msgspec.structs.replace(pod, metadata=metadata)


class View:
    """A Job with its pods as they count now."""

    def __init__(self, job: batch_v1.Job, owned: Sequence[core_v1.Pod], untracked: Collection[str], now: float) -> None:
        self.job = job
        self.pods = owned
        self.now = now
        self.indexed = is_indexed(job)
        self.uncounted = job.status.uncounted_terminated_pods or batch_v1.UncountedTerminatedPods()
        self.active = [pod for pod in owned if is_active(pod)]
        self.ready = sum(map(is_ready, self.active))
        self.terminating = [pod for pod in owned if is_terminating(pod)]
        self.tracked = [pod for pod in owned if is_tracked(pod) and pod.metadata.uid not in untracked]

    def _new(self, known: Sequence[str]) -> list[core_v1.Pod]:
        """Tracked pods that count and are not counted yet."""
        seen = {*known}
        left = [pod for pod in self.tracked if pod.metadata.uid not in seen]
        return [pod for pod in left if has_valid_index(self.job, pod)] if self.indexed else left

    @cached_property
    def new_succeeded(self) -> list[core_v1.Pod]:
        return [pod for pod in self._new(self.uncounted.succeeded) if pod.status.phase == "Succeeded"]

    @cached_property
    def new_failed(self) -> list[core_v1.Pod]:
        return [pod for pod in self._new(self.uncounted.failed) if is_failed(pod, self.job)]

    @property
    def succeeded(self) -> int:
        """How many pods, or indexes, have succeeded, those included that are not counted yet."""
        if self.indexed:
            return self.succeeded_indexes.total
        return self.job.status.succeeded + len(self.new_succeeded) + len(self.uncounted.succeeded)

    @property
    def failed(self) -> int:
        """The same for failures; those that a policy ignores do not count."""
        new = sum(policies.judge(self.job, pod).counts for pod in self.new_failed)
        return self.job.status.failed + new + len(self.uncounted.failed)

    # -- indexes

    @property
    def completions(self) -> int:
        return self.job.spec.completions or 0

    @cached_property
    def former_indexes(self) -> Indexes:
        """The indexes that the status lists as succeeded."""
        return indexes.parse(self.job.status.completed_indexes, self.completions)

    @cached_property
    def succeeded_indexes(self) -> Indexes:
        done = (pod for pod in self.pods if is_tracked(pod) and pod.status.phase == "Succeeded")
        return self.former_indexes | indexes.of(_index(pod) for pod in done if has_valid_index(self.job, pod))

    @cached_property
    def failed_indexes(self) -> Indexes | None:
        """None for Jobs that have no limit per index."""
        if self.job.spec.backoff_limit_per_index is None:
            return None
        former = indexes.parse(self.job.status.failed_indexes or "", self.completions)
        failed = (pod for pod in self.pods if is_tracked(pod) and has_valid_index(self.job, pod))
        return former | indexes.of(_index(pod) for pod in failed if policies.is_index_failed(self.job, pod))

    @cached_property
    def kept(self) -> dict[int, core_v1.Pod]:
        """For each index that waits to be tried again, the failed pod that knows how often it was tried: it stays until then."""
        if self.failed_indexes is None:
            return {}
        settled = {index_of(pod) for pod in self.active}
        found: dict[int, core_v1.Pod] = {}
        for pod in self.tracked:
            index = _index(pod)
            if not has_valid_index(self.job, pod) or not is_failed(pod, self.job) or index in settled:
                continue
            if index in self.succeeded_indexes or index in self.failed_indexes:
                continue
            if index not in found or _order(found[index]) <= _order(pod):
                found[index] = pod
        return found


def _order(pod: core_v1.Pod) -> tuple[int, float]:
    return pods.failures(pod) + pods.ignored_failures(pod), pods.finished_time(pod)


def _index(pod: core_v1.Pod) -> int:
    index = index_of(pod)
    return -1 if index is None else index
