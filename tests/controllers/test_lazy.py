from __future__ import annotations

from typing import Any

from setpoint.controllers.lazy import Lazy

SETS = "/apis/apps/v1/namespaces/default/statefulsets"
NAME = "statefulset-controller"


def stateful_set(name: str) -> dict[str, Any]:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {"metadata": {"name": name}, "spec": {"serviceName": name, "selector": {"matchLabels": labels}, "template": template}}


async def test_a_controller_is_loaded_by_the_first_object_that_asks_for_it(world: Any) -> None:
    await world.namespace("default", account=True)
    await world.run(NAME)
    controller = world.manager.controllers[NAME]
    assert isinstance(controller, Lazy)
    assert (controller.traces, controller.activity().settled) == ([], True)
    await world.call("POST", SETS, stateful_set("s"))
    await world.clock.advance(1)
    assert await world.names("/api/v1/namespaces/default/pods") == ["s-0"]
    assert len(controller.traces) == 1
    reasons = [event["reason"] for event in (await world.call("GET", "/api/v1/namespaces/default/events"))["items"]]
    assert reasons == ["SuccessfulCreate"]


async def test_what_was_there_before_the_start_is_seen(world: Any) -> None:
    await world.namespace("default", account=True)
    await world.call("POST", SETS, stateful_set("s"))
    await world.run(NAME)
    await world.clock.advance(1)
    assert await world.names("/api/v1/namespaces/default/pods") == ["s-0"]
