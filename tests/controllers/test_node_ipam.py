"""A range of addresses for each node."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

import pytest

from setpoint.controllers.component import Settings
from setpoint.controllers.node_ipam import Exhausted, Parts

NAME = "node-ipam-controller"
NODES = "/api/v1/nodes"


def test_parts_are_taken_in_turn_and_come_back() -> None:
    parts = Parts(ip_network("10.0.0.0/22"), 24, [ip_network("10.0.1.0/28")])
    assert [str(parts.allocate()) for _ in range(3)] == ["10.0.0.0/24", "10.0.2.0/24", "10.0.3.0/24"]
    with pytest.raises(Exhausted):
        parts.allocate()
    parts.release(ip_network("10.0.2.0/24"))
    assert str(parts.allocate()) == "10.0.2.0/24"


def test_what_overlaps_is_occupied() -> None:
    parts = Parts(ip_network("10.0.0.0/22"), 24)
    parts.occupy(ip_network("10.0.0.0/23"))
    parts.occupy(ip_network("fd00::/64"))
    assert str(parts.allocate()) == "10.0.2.0/24"
    assert str(Parts(ip_network("fd00::/56"), 64).allocate()) == "fd00::/64"
    with pytest.raises(ValueError, match="no parts"):
        Parts(ip_network("10.0.0.0/24"), 20)


async def test_nodes_get_their_parts(world: Any) -> None:
    await world.namespace("default")
    await world.call("POST", NODES, {"metadata": {"name": "a"}, "spec": {"podCIDR": "10.0.0.0/24"}})
    await world.call("POST", NODES, {"metadata": {"name": "b"}})
    await world.run(NAME, settings=Settings(pod_ranges=("10.0.0.0/23",)))
    assert (await world.get(f"{NODES}/b"))["spec"]["podCIDRs"] == ["10.0.1.0/24"]
    await world.call("POST", NODES, {"metadata": {"name": "c"}})
    await world.clock.advance(1)
    assert "podCIDR" not in (await world.get(f"{NODES}/c"))["spec"]
    events = (await world.call("GET", "/api/v1/namespaces/default/events"))["items"]
    assert events[0]["message"] == "Node c status is now: CIDRNotAvailable"
    await world.call("DELETE", f"{NODES}/a")
    await world.clock.advance(60)
    assert (await world.get(f"{NODES}/c"))["spec"]["podCIDR"] == "10.0.0.0/24"
