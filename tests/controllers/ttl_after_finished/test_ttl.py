from __future__ import annotations

from typing import Any

from setpoint.kit.clock import rfc3339

JOBS = "/apis/batch/v1/namespaces/default/jobs"
NAME = "ttl-after-finished-controller"


async def finished(world: Any, name: str, ttl: int | None) -> None:
    """A Job that ends now."""
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    spec = {"template": template, **({} if ttl is None else {"ttlSecondsAfterFinished": ttl})}
    await world.call("POST", JOBS, {"metadata": {"name": name}, "spec": spec})
    now = rfc3339(world.clock.now())
    conditions = [{"type": kind, "status": "True", "lastTransitionTime": now} for kind in ("SuccessCriteriaMet", "Complete")]
    await world.merge(
        f"{JOBS}/{name}/status", {"status": {"startTime": now, "completionTime": now, "conditions": conditions, "succeeded": 1}}
    )


async def test_a_job_goes_when_its_time_is_over_and_one_without_stays(world: Any) -> None:
    await world.namespace("default")
    await world.run(NAME)
    await finished(world, "soon", 10)
    await finished(world, "kept", None)
    await world.clock.advance(8)
    assert await world.names(JOBS) == ["kept", "soon"]
    await world.clock.advance(4)
    left = [
        name for name in await world.names(JOBS) if not (await world.get(f"{JOBS}/{name}"))["metadata"].get("deletionTimestamp")
    ]
    assert left == ["kept"]


async def test_a_longer_time_given_meanwhile_counts(world: Any) -> None:
    await world.namespace("default")
    await world.run(NAME)
    await finished(world, "j", 10)
    await world.merge(f"{JOBS}/j", {"spec": {"ttlSecondsAfterFinished": 1000}})
    await world.clock.advance(20)
    assert "deletionTimestamp" not in (await world.get(f"{JOBS}/j"))["metadata"]
