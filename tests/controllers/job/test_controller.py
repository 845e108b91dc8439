"""What happens to several pods at about the same time is judged as a whole, and refusals are not asked for all the time."""

from __future__ import annotations

from typing import Any

JOBS = "/apis/batch/v1/namespaces/default/jobs"
PODS = "/api/v1/namespaces/default/pods"
SPEC = {
    "completions": 2,
    "parallelism": 2,
    "backoffLimit": 0,
    "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}},
}


async def test_a_pod_that_succeeds_just_after_another_failed_is_counted(world: Any) -> None:
    await world.namespace("default", account=True)
    await world.run("job-controller")
    await world.call("POST", JOBS, {"metadata": {"name": "j"}, "spec": SPEC})
    await world.clock.advance(1)
    first, second = await world.names(PODS)
    await world.merge(f"{PODS}/{first}/status", {"status": {"phase": "Failed"}})
    await world.clock.advance(0.05)
    await world.merge(f"{PODS}/{second}/status", {"status": {"phase": "Succeeded"}})
    await world.clock.advance(1)
    status = (await world.get(f"{JOBS}/j"))["status"]
    assert (status["failed"], status["succeeded"], status["conditions"][-1]["type"]) == (1, 1, "Failed")


async def test_a_refused_pod_is_tried_again_after_a_second(world: Any) -> None:
    await world.namespace("default")  # without the account that pods need
    await world.run("job-controller")
    await world.call("POST", JOBS, {"metadata": {"name": "j"}, "spec": SPEC})
    counts = []
    for seconds in (3.0, 1.0):  # admission looks for the account for more than a second each time
        await world.clock.advance(seconds)
        events = (await world.call("GET", "/api/v1/namespaces/default/events"))["items"]
        counts.append(sum(event.get("count", 1) for event in events if event["reason"] == "FailedCreate"))
    assert counts == [1, 2]
