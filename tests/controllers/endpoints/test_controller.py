from __future__ import annotations

from typing import Any

import msgspec

from setpoint.api.types import core_v1
from setpoint.client.store import Store
from setpoint.controllers.endpoints.controller import EndpointsReconciler, Observed, diff
from setpoint.testing.objects import metadata

NAME = "endpoints-controller"
SERVICES, ENDPOINTS = (f"/api/v1/namespaces/default/{each}" for each in ("services", "endpoints"))
SUBSETS = [{"addresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 80}]}]


async def by_hand(world: Any) -> None:
    await world.call("POST", ENDPOINTS, {"metadata": {"name": "s"}, "subsets": SUBSETS})


async def test_a_service_takes_along_what_was_written_by_hand(world: Any) -> None:
    await world.namespace("default")
    await world.run(NAME)
    await world.call("POST", SERVICES, {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}})
    await by_hand(world)
    await world.clock.advance(1)
    assert await world.get(f"{ENDPOINTS}/s")
    await world.call("DELETE", f"{SERVICES}/s")
    await world.clock.advance(1)
    assert await world.get(f"{ENDPOINTS}/s") is None


async def test_what_somebody_else_wrote_stays_until_there_is_a_cause(world: Any) -> None:
    await world.namespace("default")
    await world.run(NAME)
    spec = {"selector": {"app": "a"}, "ports": [{"port": 80}]}
    await world.call("POST", SERVICES, {"metadata": {"name": "s"}, "spec": spec})
    await world.clock.advance(1)
    await world.merge(f"{ENDPOINTS}/s", {"subsets": SUBSETS})
    await world.clock.advance(1)
    assert (await world.get(f"{ENDPOINTS}/s"))["subsets"][0]["addresses"] == [{"ip": "192.0.2.1"}]
    await world.merge(f"{SERVICES}/s", {"metadata": {"labels": {"a": "b"}}})
    await world.clock.advance(1)
    assert "subsets" not in await world.get(f"{ENDPOINTS}/s")


def test_what_is_written_by_hand_after_the_service_and_its_endpoints_are_gone_stays() -> None:
    services: Store[core_v1.Service] = Store()
    endpoints: Store[core_v1.Endpoints] = Store()
    nobody: Any = None
    reconciler = EndpointsReconciler(nobody, services, Store(), endpoints, nobody)
    made = msgspec.convert({"metadata": metadata("s")}, core_v1.Endpoints)
    endpoints.put(made)
    reconciler.service_deleted("default/s")
    assert diff(observed(reconciler)) is not None
    endpoints.remove("default/s")  # somebody was quicker
    assert diff(observed(reconciler)) is None
    endpoints.put(made)
    assert diff(observed(reconciler)) is None


def observed(reconciler: EndpointsReconciler) -> Observed:
    found = reconciler.observe("default/s")
    assert found is not None
    return found
