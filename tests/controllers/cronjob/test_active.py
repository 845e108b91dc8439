"""Active Jobs of a CronJob that are not to be found where they were."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from setpoint.api.machinery.status import StatusError
from setpoint.api.types import batch_v1, core_v1, meta_v1
from setpoint.controllers.cronjob.plan import Plan
from setpoint.controllers.cronjob.reconciler import CronJobReconciler
from setpoint.kit.clock import VirtualClock

NAME = "cronjob-controller"
CRON_JOB = "/apis/batch/v1/namespaces/default/cronjobs"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
JOB = {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}


async def first_job(world: Any, policy: str) -> str:
    """The Job of the first minute."""
    await world.namespace("default")
    await world.run(NAME)
    spec = {"schedule": "* * * * *", "concurrencyPolicy": policy, "jobTemplate": {"spec": JOB}}
    await world.call("POST", CRON_JOB, {"metadata": {"name": "c"}, "spec": spec})
    await world.clock.advance(62)
    [name] = await world.names(JOBS)
    return str(name)


async def active(world: Any) -> list[str]:
    return [ref["name"] for ref in (await world.get(f"{CRON_JOB}/c"))["status"].get("active", ())]


async def test_a_job_that_was_taken_away_stays_active_and_stops_nothing(world: Any) -> None:
    taken = await first_job(world, "Allow")
    await world.merge(f"{JOBS}/{taken}", {"metadata": {"ownerReferences": None}})
    await world.clock.advance(60)
    assert len(await world.names(JOBS)) == 2
    assert await active(world) == await world.names(JOBS)


async def test_a_job_that_was_taken_away_holds_up_what_the_policy_forbids(world: Any) -> None:
    taken = await first_job(world, "Forbid")
    await world.merge(f"{JOBS}/{taken}", {"metadata": {"ownerReferences": None}})
    await world.clock.advance(120)
    assert await world.names(JOBS) == await active(world) == [taken]


async def test_another_job_of_the_same_name_is_not_the_one_that_went_missing(world: Any) -> None:
    missing = await first_job(world, "Forbid")
    await world.call("DELETE", f"{JOBS}/{missing}", propagationPolicy="Background")
    await world.call("POST", JOBS, {"metadata": {"name": missing}, "spec": JOB})
    await world.clock.advance(60)
    assert len(await world.names(JOBS)) == 2
    assert missing not in await active(world)


async def test_times_of_a_new_schedule_that_are_over_start_nothing_until_it_is_looked_at(world: Any) -> None:
    await world.namespace("default")
    await world.run(NAME)
    spec = {"schedule": "0 0 1 2 *", "suspend": True, "jobTemplate": {"spec": JOB}}
    await world.call("POST", CRON_JOB, {"metadata": {"name": "c"}, "spec": spec})
    await world.merge(f"{CRON_JOB}/c/status", {"status": {"lastScheduleTime": "2020-01-01T00:00:00Z"}})
    await world.merge(f"{CRON_JOB}/c", {"spec": {"schedule": "0 0 1 1 *", "suspend": False}})
    await world.clock.advance(5)
    assert await world.names(JOBS) == []
    await world.merge(f"{CRON_JOB}/c", {"metadata": {"annotations": {"poke": "1"}}})
    await world.clock.advance(5)
    assert len(await world.names(JOBS)) == 1


class Changed:
    """A client of a server where the CronJob is `there`."""

    def __init__(self, there: batch_v1.CronJob) -> None:
        self.there = there

    async def get(self, *_: Any) -> batch_v1.CronJob:
        return self.there

    async def patch(self, _: Any, __: str, patch: Any, ___: str, **____: Any) -> batch_v1.CronJob:
        if patch["metadata"]["resourceVersion"] != self.there.metadata.resource_version:
            raise StatusError(409, "Conflict", "it was changed")
        status = msgspec.convert(patch["status"], batch_v1.CronJobStatus)
        self.there = msgspec.structs.replace(self.there, status=status)
        return self.there


@pytest.mark.parametrize("same", [True, False])
async def test_the_status_is_written_over_changes_of_anything_else(same: bool) -> None:
    meta = meta_v1.ObjectMeta(name="c", namespace="ns", uid="u", resource_version="1")
    seen = batch_v1.CronJob(metadata=meta)
    status = seen.status if same else msgspec.structs.replace(seen.status, last_schedule_time="2030-01-01T00:00:00Z")
    there = batch_v1.CronJob(metadata=msgspec.structs.replace(meta, resource_version="2"), status=status)
    client: Any = Changed(there)
    nothing: Any = None
    reconciler = CronJobReconciler(client, VirtualClock(), nothing, nothing, nothing)
    plan = Plan(seen, (core_v1.ObjectReference(name="j", uid="j"),), None)
    if same:
        await reconciler._write(plan, plan.active)
        assert client.there.status.active == plan.active
    else:
        with pytest.raises(StatusError):
            await reconciler._write(plan, plan.active)
