from __future__ import annotations

from typing import Any

from setpoint.controllers.endpoint_slice_mirroring.diff import SKIP

SERVICE = "/api/v1/namespaces/default/services"
ENDPOINTS = "/api/v1/namespaces/default/endpoints"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
NAME = "endpointslice-mirroring-controller"


def endpoints(*ips: str, **labels: str) -> dict[str, Any]:
    subsets = [{"addresses": [{"ip": ip} for ip in ips], "ports": [{"port": 80}]}]
    return {"metadata": {"name": "s", "labels": labels}, "subsets": subsets}


async def slices(world: Any) -> list[Any]:
    items: list[Any] = (await world.call("GET", SLICES))["items"]
    return items


async def test_endpoints_by_hand_are_mirrored_by_family_and_go_with_them(world: Any) -> None:
    await world.namespace("default")
    await world.call("POST", SERVICE, {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}})
    await world.run(NAME)
    await world.call("POST", ENDPOINTS, endpoints("10.9.0.1", "fd00::1", mine="x"))
    await world.clock.advance(2)
    found = await slices(world)
    assert sorted(each["addressType"] for each in found) == ["IPv4", "IPv6"]
    assert all(each["metadata"]["labels"]["mine"] == "x" for each in found)
    await world.merge(f"{ENDPOINTS}/s", {"metadata": {"labels": {SKIP: "true"}}})
    await world.clock.advance(2)
    assert await slices(world) == []


async def test_with_a_selector_nothing_is_mirrored(world: Any) -> None:
    await world.namespace("default")
    spec = {"selector": {"a": "b"}, "ports": [{"port": 80}]}
    await world.call("POST", SERVICE, {"metadata": {"name": "s"}, "spec": spec})
    await world.run(NAME)
    await world.call("POST", ENDPOINTS, endpoints("10.9.0.1"))
    await world.clock.advance(2)
    assert await slices(world) == []
