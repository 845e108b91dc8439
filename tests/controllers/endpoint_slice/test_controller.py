from __future__ import annotations

from typing import Any

import msgspec

from setpoint.api.types import core_v1
from setpoint.client.store import Store
from setpoint.controllers.endpoint_slice.service_pods import ServicePods
from setpoint.kit.clock import rfc3339
from setpoint.testing.objects import LABELS, metadata, pod

NAME = "endpointslice-controller"
CORE = "/api/v1/namespaces/default"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
ZONE = "topology.kubernetes.io/zone"


async def addresses(world: Any) -> list[tuple[str, str | None]]:
    """Address and zone of every endpoint."""
    slices = (await world.call("GET", SLICES))["items"]
    return [(each["addresses"][0], each.get("zone")) for one in slices for each in one["endpoints"] or ()]


async def test_a_pod_is_published_when_its_node_is_known_and_with_its_zone(world: Any) -> None:
    await world.namespace("default", account=True)
    await world.run(NAME)
    await world.call(
        "POST", f"{CORE}/services", {"metadata": {"name": "s"}, "spec": {"selector": LABELS, "ports": [{"port": 80}]}}
    )
    spec = {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}
    await world.call("POST", f"{CORE}/pods", {"metadata": {"name": "a", "labels": LABELS}, "spec": spec})
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": rfc3339(world.clock.now())}
    status = {"phase": "Running", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}], "conditions": [ready]}
    await world.merge(f"{CORE}/pods/a/status", {"status": status})
    await world.clock.advance(1)
    assert await addresses(world) == []
    (event,) = (await world.call("GET", f"{CORE}/events"))["items"]
    why = "Error updating Endpoint Slices for Service default/s: skipping Pod a for Service default/s: Node n Not Found"
    assert (event["reason"], event["message"]) == ("FailedToUpdateEndpointSlices", why)
    await world.call("POST", "/api/v1/nodes", {"metadata": {"name": "n"}})
    await world.clock.advance(1)
    assert await addresses(world) == [("10.0.0.1", None)]
    await world.merge("/api/v1/nodes/n", {"metadata": {"labels": {ZONE: "z"}}})
    await world.clock.advance(1)
    assert await addresses(world) == [("10.0.0.1", "z")]


def test_only_services_that_select_a_pod_are_looked_at_and_only_for_what_they_publish() -> None:
    services: Store[core_v1.Service] = Store()
    for name, selector in (("s", LABELS), ("t", {"app": "b"})):
        services.put(msgspec.convert({"metadata": metadata(name), "spec": {"selector": selector}}, core_v1.Service))
    asked: list[str] = []
    changed = ServicePods(services, asked.append).pod_changed
    first, second = pod("a"), pod("a", restarts=3)
    changed("", None, first)
    changed("", first, second)
    assert asked == ["default/s"]
    changed("", second, pod("a", labels={"app": "b"}))
    assert asked == ["default/s", "default/s", "default/t"]
    changed("", second, None)
    assert asked[3:] == ["default/s"]
