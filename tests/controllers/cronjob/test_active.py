"""Active Jobs of a CronJob that are not to be found where they were."""

from __future__ import annotations

from typing import Any

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
