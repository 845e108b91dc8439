from __future__ import annotations

from typing import Any

import msgspec
import pytest

from setpoint.api.machinery import status
from setpoint.api.types import apps_v1, batch_v1, core_v1
from setpoint.client.owners import controller_reference
from setpoint.client.store import Store
from setpoint.controllers.job.orphans import OrphanReconciler
from setpoint.controllers.job.pods import FINALIZER
from setpoint.testing.objects import metadata


class Server:
    """Has one Job, or none, and remembers what is written to pods."""

    def __init__(self, job: batch_v1.Job | None) -> None:
        self.job = job
        self.freed: list[str] = []

    async def get(self, *_: Any) -> batch_v1.Job:
        if self.job is None:
            raise status.not_found("batch", "jobs", "j")
        return self.job

    async def patch(self, _: Any, name: str, *__: Any, **___: Any) -> None:
        self.freed.append(name)


def job(*, ended: bool = False, **spec: Any) -> batch_v1.Job:
    conditions = [{"type": "Complete", "status": "True"}] if ended else []
    return msgspec.convert({"metadata": metadata("j"), "spec": spec, "status": {"conditions": conditions}}, batch_v1.Job)


def pod(resource: Any = batch_v1.JOBS) -> core_v1.Pod:
    owners = [controller_reference(job(), resource)]
    return msgspec.convert({"metadata": metadata("p", finalizers=[FINALIZER], ownerReferences=owners)}, core_v1.Pod)


async def freed(server: Server, known: batch_v1.Job | None, found: core_v1.Pod) -> bool:
    jobs: Store[batch_v1.Job] = Store()
    if known is not None:
        jobs.put(known)
    client: Any = server
    reconciler = OrphanReconciler(client, jobs, Store())
    chosen = reconciler.diff(found)
    if chosen is not None:
        await reconciler.act(chosen)
    return bool(server.freed)


@pytest.mark.parametrize(
    ("there", "known", "goes"),
    [
        (None, None, True),
        (job(), job(), False),
        (job(ended=True), job(ended=True), True),
        (job(managedBy="example.com/other"), job(managedBy="example.com/other"), False),
        (job(ended=True, managedBy="example.com/other"), job(ended=True, managedBy="example.com/other"), False),
        (job(), None, False),  # the cache does not know it yet
        (job(ended=True), None, True),
    ],
)
async def test_a_pod_is_freed_when_nobody_will_count_it(there: Any, known: Any, goes: bool) -> None:
    assert await freed(Server(there), known, pod()) is goes


async def test_another_job_of_that_name_does_not_count_it() -> None:
    other = msgspec.structs.replace(job(), metadata=msgspec.convert(metadata("j", uid="other"), type(job().metadata)))
    assert await freed(Server(other), other, pod())


async def test_pods_of_other_controllers_are_left_alone() -> None:
    assert not await freed(Server(None), None, pod(apps_v1.REPLICASETS))
