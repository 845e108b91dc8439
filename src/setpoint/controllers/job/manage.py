"""How many pods a Job should have now, which are too many, which are to be made. Pure.

As `manageJob` in `pkg/controller/job/job_controller.go`: pods are either made or deleted in one cycle, and deleted first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from setpoint.api.types import core_v1
from setpoint.controllers.job import indexes
from setpoint.controllers.job.backoff import Record, remaining_for_index
from setpoint.controllers.job.observation import View
from setpoint.controllers.job.pods import index_of, replaces_only_failed
from setpoint.controllers.job.template import new_indexed_pod, new_pod
from setpoint.controllers.owned_pods.ranking import least_advanced_first

BURST = 500


class Change(Struct, frozen=True):
    """Pods to delete without counting them, bodies to make pods of, and in how many seconds to look again.

    `held`: pods are missing and may not be made yet. (Kubernetes shows no pod as active then, whatever runs.)
    """

    discard: tuple[core_v1.Pod, ...] = ()
    create: tuple[Mapping[str, Any], ...] = ()
    wait: float | None = None
    held: bool = False


def decide(view: View, record: Record) -> Change:
    """What brings the active pods to their number."""
    job = view.job
    if job.spec.suspend:
        return Change(tuple(view.active))
    terminating = len(view.terminating) if replaces_only_failed(job) else 0
    wanted = _wanted(view)
    surplus = _surplus(view, max(0, len(view.active) - wanted))
    if surplus:
        return Change(tuple(surplus[:BURST]))
    missing = min(wanted - terminating - len(view.active), BURST)
    return _create(view, record, missing) if missing > 0 else Change()


def _wanted(view: View) -> int:
    job = view.job
    parallelism = job.spec.parallelism if job.spec.parallelism is not None else 1
    if job.spec.completions is None:
        # One success says that the work is done: what runs may end, nothing is made any more.
        return len(view.active) if view.succeeded else parallelism
    return max(0, min(job.spec.completions - view.succeeded, parallelism))


def _create(view: View, record: Record, count: int) -> Change:
    job = view.job
    if job.spec.backoff_limit_per_index is None and (wait := record.remaining(view.now)) > 0:
        return Change(wait=wait, held=True)
    if not view.indexed:
        return Change(create=tuple(new_pod(job) for _ in range(count)))
    pending = _pending(view, count)
    waits = {index: remaining_for_index(view.kept.get(index), view.now) for index in pending}
    now = [index for index in pending if not waits[index]]
    later = min((wait for wait in waits.values() if wait), default=None)
    bodies = tuple(new_indexed_pod(job, index, view.kept.get(index)) for index in now)
    return Change(create=bodies, wait=later, held=not now and later is not None)


def _pending(view: View, count: int) -> list[int]:
    """The first indexes that have neither ended nor a pod."""
    there = [*view.active, *(view.terminating if replaces_only_failed(view.job) else ())]
    busy = view.succeeded_indexes | indexes.of(index for pod in there if (index := index_of(pod)) is not None)
    if view.failed_indexes is not None:
        busy |= view.failed_indexes
    return busy.missing(count, view.completions)


def _surplus(view: View, count: int) -> list[core_v1.Pod]:
    """The pods of wrong or double indexes, and as many others as are too many, the least advanced first."""
    gone, left = _doubles(view) if view.indexed else ([], view.active)
    if len(gone) < count:
        gone += sorted(left, key=least_advanced_first)[: count - len(gone)]
    return gone


def _doubles(view: View) -> tuple[list[core_v1.Pod], list[core_v1.Pod]]:
    by_index: dict[int | None, list[core_v1.Pod]] = {}
    for pod in sorted(view.active, key=lambda pod: index_of(pod) or 0):  # among equals the lowest indexes go first
        index = index_of(pod)
        by_index.setdefault(index if index is not None and index < view.completions else None, []).append(pod)
    gone, left = by_index.pop(None, []), []
    for group in by_index.values():
        *worse, best = sorted(group, key=least_advanced_first)
        gone += worse
        left.append(best)
    return gone, left
