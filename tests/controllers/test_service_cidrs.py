"""Ranges of cluster addresses: ready, allocated from, kept while addresses need them."""

from __future__ import annotations

from typing import Any

NAME = "service-cidr-controller"
CIDRS, SERVICES = "/apis/networking.k8s.io/v1/servicecidrs", "/api/v1/namespaces/n/services"


def service(name: str, address: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"clusterIP": address, "ports": [{"port": 80}]}}


def cidr(name: str, *ranges: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"cidrs": list(ranges)}}


async def test_a_range_becomes_ready_is_used_and_goes_when_nothing_needs_it(world: Any) -> None:
    await world.namespace("n")
    await world.run(NAME)
    await world.call("POST", CIDRS, cidr("more", "10.97.0.0/24"))
    await world.clock.advance(1)
    made = await world.get(f"{CIDRS}/more")
    assert made["metadata"]["finalizers"] == ["networking.k8s.io/service-cidr-finalizer"]
    ready = made["status"]["conditions"][0]
    assert (ready["type"], ready["status"], ready["message"]) == ("Ready", "True", "Kubernetes Service CIDR is ready")
    await world.call("POST", SERVICES, service("s", "10.97.0.7"))
    await world.call("DELETE", f"{CIDRS}/more")
    await world.clock.advance(12)
    blocked = (await world.get(f"{CIDRS}/more"))["status"]["conditions"][0]
    assert (blocked["status"], blocked["reason"]) == ("False", "Terminating")
    await world.call("DELETE", f"{SERVICES}/s")
    await world.clock.advance(1)
    assert await world.get(f"{CIDRS}/more") is None


async def test_a_range_within_another_goes_after_its_grace(world: Any) -> None:
    await world.namespace("n")
    await world.run(NAME)
    await world.call("POST", CIDRS, cidr("wide", "10.97.0.0/16"))
    await world.call("POST", CIDRS, cidr("narrow", "10.97.0.0/24"))
    await world.clock.advance(1)
    await world.call("POST", SERVICES, service("s", "10.97.0.7"))
    await world.call("DELETE", f"{CIDRS}/narrow")
    await world.clock.advance(8)
    assert await world.get(f"{CIDRS}/narrow") is not None
    await world.clock.advance(4)
    assert await world.get(f"{CIDRS}/narrow") is None
