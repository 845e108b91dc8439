from __future__ import annotations

from typing import Any

import msgspec

from setpoint.api.types import core_v1
from setpoint.controllers.endpoints.subsets import CAPACITY, subsets, truncated
from setpoint.testing.objects import LABELS, metadata, pod


def service(*ports: dict[str, Any], **spec: Any) -> core_v1.Service:
    body = {"metadata": metadata("s"), "spec": {"selector": LABELS, "clusterIP": "10.96.0.9", "ports": list(ports), **spec}}
    return msgspec.convert(body, core_v1.Service)


def at(name: str, ip: str, *, ports: Any = (), **fields: Any) -> core_v1.Pod:
    """A pod with an address and named container ports."""
    made = pod(name, **fields)
    container = msgspec.convert({"name": "c", "image": "i", "ports": list(ports)}, core_v1.Container)
    status = msgspec.structs.replace(made.status, pod_ip=ip, pod_ips=(core_v1.PodIP(ip=ip),) if ip else ())
    return msgspec.structs.replace(made, spec=msgspec.structs.replace(made.spec, containers=(container,)), status=status)


def shown(found: Any) -> list[tuple[list[str], list[str], list[int]]]:
    return [
        ([one.ip for one in each.addresses], [one.ip for one in each.not_ready_addresses], [port.port for port in each.ports])
        for each in found
    ]


def test_ready_and_not_ready_stand_apart_in_order_of_address() -> None:
    pods = [at("b", "10.0.0.2", ready_since=1), at("a", "10.0.0.1", ready_since=1), at("c", "10.0.0.3")]
    assert shown(subsets(service({"port": 80}), pods)) == [(["10.0.0.1", "10.0.0.2"], ["10.0.0.3"], [80])]


def test_pods_without_address_ended_or_going_are_left_out() -> None:
    pods = [at("a", ""), at("b", "10.0.0.2", phase="Succeeded"), at("c", "10.0.0.3", deleted=True)]
    assert subsets(service({"port": 80}), pods) == ()
    assert shown(subsets(service({"port": 80}, publishNotReadyAddresses=True), pods)) == [(["10.0.0.3"], [], [80])]


def test_a_named_port_may_differ_from_pod_to_pod() -> None:
    first = at("a", "10.0.0.1", ready_since=1, ports=[{"name": "http", "containerPort": 8080}])
    second = at("b", "10.0.0.2", ready_since=1, ports=[{"name": "http", "containerPort": 9090}])
    none = at("c", "10.0.0.3", ready_since=1)
    found = shown(subsets(service({"port": 80, "targetPort": "http"}), [first, second, none]))
    assert sorted(found) == [(["10.0.0.1"], [], [8080]), (["10.0.0.2"], [], [9090])]
    both = service({"name": "web", "port": 80, "targetPort": "http"}, {"name": "all", "port": 7})
    assert sorted(shown(subsets(both, [first, second]))) == [
        (["10.0.0.1"], [], [8080]),
        (["10.0.0.1", "10.0.0.2"], [], [7]),
        (["10.0.0.2"], [], [9090]),
    ]


def test_a_headless_service_needs_no_ports() -> None:
    pods = [at("a", "10.0.0.1", ready_since=1)]
    assert shown(subsets(service(clusterIP="None"), pods)) == [(["10.0.0.1"], [], [])]
    assert subsets(service(), pods) == ()


def test_more_than_a_thousand_lose_those_that_are_not_ready_first() -> None:
    ready = tuple(core_v1.EndpointAddress(ip=f"r{number}") for number in range(900))
    others = tuple(core_v1.EndpointAddress(ip=f"n{number}") for number in range(200))
    (kept,) = truncated((core_v1.EndpointSubset(addresses=ready, not_ready_addresses=others),))
    assert (len(kept.addresses), len(kept.not_ready_addresses)) == (900, CAPACITY - 900)
    (kept,) = truncated((core_v1.EndpointSubset(addresses=ready + others, not_ready_addresses=others),))
    assert (len(kept.addresses), len(kept.not_ready_addresses)) == (CAPACITY, 0)
