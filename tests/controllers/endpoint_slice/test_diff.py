from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from setpoint.api.types import core_v1, discovery_v1
from setpoint.controllers.endpoint_slice import topology
from setpoint.controllers.endpoint_slice.diff import Observed, diff
from setpoint.controllers.endpoint_slice.hashing import slice_port_hash
from setpoint.testing.objects import LABELS, metadata, pod


def service(**spec: Any) -> core_v1.Service:
    ports = [{"port": 80}]
    body = {"metadata": metadata("s"), "spec": {"selector": LABELS, "clusterIP": "10.96.0.9", "ports": ports, **spec}}
    return msgspec.convert(body, core_v1.Service)


def at(name: str, *ips: str, **fields: Any) -> core_v1.Pod:
    made = pod(name, **fields)
    addresses = tuple(core_v1.PodIP(ip=ip) for ip in ips)
    return msgspec.structs.replace(made, status=msgspec.structs.replace(made.status, pod_ip=ips[0], pod_ips=addresses))


def endpoints(owner: core_v1.Service, pods: Sequence[core_v1.Pod], zones: dict[str, str]) -> list[discovery_v1.Endpoint]:
    plan = diff(Observed(owner, pods, [], zones, None))
    assert plan is not None
    return [endpoint for draft in plan.write for endpoint in draft.endpoints]


def test_each_family_has_slices_of_its_own() -> None:
    plan = diff(Observed(service(ipFamilies=["IPv4", "IPv6"]), [at("a", "10.0.0.1", "fd00::1")], [], {"n": ""}, None))
    assert plan is not None
    assert [(draft.address_type, draft.endpoints[0].addresses) for draft in plan.write] == [
        ("IPv4", ("10.0.0.1",)),
        ("IPv6", ("fd00::1",)),
    ]


def test_a_pod_whose_node_is_not_known_is_left_out() -> None:
    assert endpoints(service(), [at("a", "10.0.0.1")], {}) == []
    assert len(endpoints(service(publishNotReadyAddresses=True), [at("a", "10.0.0.1")], {})) == 1


def test_traffic_distribution_gives_hints_to_what_is_ready() -> None:
    pods = [at("a", "10.0.0.1", ready_since=5), at("b", "10.0.0.2")]
    first, second = endpoints(service(trafficDistribution="PreferSameNode"), pods, {"n": "z"})
    assert msgspec.to_builtins(first.hints) == {"forNodes": ({"name": "n"},), "forZones": ({"name": "z"},)}
    assert second.hints is None
    (near, _) = endpoints(service(trafficDistribution="PreferClose"), pods, {"n": "z"})
    assert msgspec.to_builtins(near.hints) == {"forZones": ({"name": "z"},)}


@pytest.mark.parametrize(
    ("shares", "zones", "expected"),
    [
        ({"a": 0.5, "b": 0.5}, ["a", "b", "a", "b"], ["a", "b", "a", "b"]),
        ({"a": 0.5, "b": 0.5}, ["a", "a", "a", "a"], ["a", "a", "b", "b"]),
        ({"a": 0.5, "b": 0.5}, ["a", "a", "c", "b"], ["a", "a", "b", "b"]),
        ({"a": 0.5, "b": 0.5}, ["a"], "Insufficient number of endpoints (1), impossible to safely allocate proportionally"),
        ({"a": 0.5, "b": 0.5}, ["a", None], "One or more endpoints do not have a zone specified"),
        (
            {"a": 0.9, "b": 0.1},
            ["a", "b"],
            (
                "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold"
                " (2 endpoints, 2 zones)"
            ),
        ),
        ({}, ["a"], "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes"),
    ],
)
def test_hints_follow_the_zones_shares_of_cpu(
    shares: dict[str, float], zones: list[str | None], expected: list[str] | str
) -> None:
    try:
        assert topology.hints(shares, zones) == expected
    except topology.Impossible as why:
        assert str(why) == expected  # noqa: PT017  either may be expected


def test_hints_by_cpu_take_the_place_of_those_by_distribution() -> None:
    pods = [at("a", "10.0.0.1", ready_since=5)]
    plan = diff(Observed(service(trafficDistribution="PreferClose"), pods, [], {"n": "z"}, None, shares={}))
    assert plan is not None
    assert plan.write[0].endpoints[0].hints is None
    assert plan.hints is not None
    assert plan.hints[1] == "TopologyAwareHintsDisabled"


def test_going_it_serves_and_is_not_ready() -> None:
    (endpoint,) = endpoints(service(), [at("a", "10.0.0.1", ready_since=5, deleted=True)], {"n": ""})
    conditions = endpoint.conditions
    assert (conditions.ready, conditions.serving, conditions.terminating) == (False, True, True)


def test_the_hash_of_ports_that_all_pods_have_is_worked_out_once() -> None:
    slice_port_hash.cache_clear()
    for _ in range(10):
        slice_port_hash(discovery_v1.EndpointPort(name="http", port=80, protocol="TCP"))
    assert slice_port_hash.cache_info().misses == 1
