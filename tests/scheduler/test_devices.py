"""Pods with resource claims: which nodes have the devices, which devices are given, and what is said where there are none."""

from __future__ import annotations

import re
from typing import Any

import pytest

from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import Pod
from setpoint.api.types.resource_v1 import DEVICECLASSES, RESOURCECLAIMS, RESOURCESLICES, Device, ResourceClaim
from setpoint.scheduler.cycle import CycleError, Placement
from setpoint.scheduler.devices.capacity import share_of
from setpoint.scheduler.devices.claims import allocation
from setpoint.scheduler.devices.extended import ExtendedResources, extended_claim
from setpoint.scheduler.devices.readiness import BindingFailed, has_conditions, is_ready, will_not_be_ready
from setpoint.scheduler.plugins.dynamic_resources import PodClaims
from setpoint.testing.scheduling import Rig, node, pod

DRIVER = "d.example.com"


def published(rig: Rig, name: str, *devices: dict[str, Any], count: int = 1, **where: Any) -> None:
    pool = {"name": where.pop("pool", name), "generation": where.pop("generation", 1), "resourceSliceCount": count}
    spec = {"driver": DRIVER, "pool": pool, "devices": [*devices], **(where or {"nodeName": name})}
    rig.collections.put(RESOURCESLICES, {"metadata": {"name": f"{name}-{pool['generation']}"}, "spec": spec})


def device(name: str, *, taint: str = "", capacity: Any = None, **attributes: Any) -> dict[str, Any]:
    kinds = {bool: "bool", int: "int", str: "string"}
    found = {key: {kinds[type(value)]: value} for key, value in attributes.items()}
    taints = [{"key": taint, "effect": "NoSchedule"}] if taint else []
    return {"name": name, "attributes": found, "taints": taints, "capacity": capacity or {}}


def claim(rig: Rig, name: str, *requests: dict[str, Any], **more: Any) -> None:
    status = more.pop("status", {})
    meta = {"name": name, "namespace": "d", "uid": f"u-{name}", **more.pop("metadata", {})}
    rig.collections.put(
        RESOURCECLAIMS, {"metadata": meta, "spec": {"devices": {"requests": [*requests], **more}}, "status": status}
    )


def request(name: str = "r", *selectors: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "exactly": asked(*selectors, **more)}


def asked(*selectors: str, **more: Any) -> dict[str, Any]:
    chosen = [{"cel": {"expression": each}} for each in selectors]
    return {"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1, "selectors": chosen, **more}


def user(*claims: str) -> Pod:
    return pod("p", resourceClaims=[{"name": each, "resourceClaimName": each} for each in claims or ("x",)])


@pytest.fixture
def devices(rig: Rig) -> Rig:
    rig.nodes(node("n1"), node("n2"))
    selectors = [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}]
    rig.collections.put(DEVICECLASSES, {"metadata": {"name": "c"}, "spec": {"selectors": selectors}})
    return rig


def place(rig: Rig, wanted: Pod) -> Placement:
    return rig.cycle.run(rig.info(wanted))


def given(rig: Rig, *claims: str) -> list[list[str]] | None:
    """The devices of each claim, None if there are none."""
    plugin: Any = next(each for each in rig.profile.plugins if each.name == "DynamicResources")
    found = place(rig, user(*claims))
    plugin.reserve(found.state, found.state.info.pod, found.node)
    return [[each.offer.key[2] for each in gives] for gives in found.state.read(PodClaims).gives[found.node]]


def reason(rig: Rig, *claims: str) -> str:
    return str(rig.no_fit(user(*claims))).removeprefix("0/2 nodes are available: ")


HELPLESS = "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."


def test_the_node_with_the_device_is_taken_and_the_device_is_gone(devices: Rig) -> None:
    published(devices, "n2", device("d0"))
    claim(devices, "x", request())
    claim(devices, "y", request())
    assert place(devices, user()).node == "n2"
    assert given(devices, "x") == [["d0"]]
    assert reason(devices, "y") == f"2 cannot allocate all claims. still not schedulable, {HELPLESS}"
    assert reason(devices, "x").startswith("resource claim d/x is in the process of being allocated.")


def test_devices_of_a_claim_that_is_gone_before_it_was_seen_to_have_them_are_free(devices: Rig) -> None:
    published(devices, "n2", device("d0"))
    claim(devices, "x", request())
    claim(devices, "y", request())
    assert given(devices, "x") == [["d0"]]
    claim(devices, "x", request(), metadata={"uid": "another"})
    assert given(devices, "y") == [["d0"]]


def test_a_missing_claim_keeps_the_pod_out_and_a_missing_class_refuses_it(devices: Rig) -> None:
    status = devices.profile.pre_enqueue(user())
    assert status is not None
    assert status.message == 'resourceclaim "x" not found'
    claim(devices, "x", request(deviceClassName="none"))
    assert devices.profile.pre_enqueue(user()) is None
    assert reason(devices) == f"request r: device class none does not exist. no new claims to deallocate, {HELPLESS}"


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ([request(count=2)], ["a", "b"]),
        ([request("r", f"device.attributes['{DRIVER}'].size > 1")], ["b"]),
        ([request("r", f"device.capacity['{DRIVER}'].memory.isGreaterThan(quantity('1Gi'))")], ["c"]),
        ([request("r", "'size' in device.attributes['other.example.com']")], None),
        ([request(allocationMode="All", tolerations=[{"key": "broken", "operator": "Exists"}])], ["a", "b", "c", "t"]),
        (
            [request("r", f"device.attributes['{DRIVER}'].size < 3"), request("s", f"device.attributes['{DRIVER}'].size < 2")],
            ["b", "a"],
        ),
        ([request(tolerations=[{"key": "broken", "operator": "Exists"}], count=4)], ["a", "b", "c", "t"]),
        ([request(count=4)], None),
        ([request(capacity={"requests": {"memory": "2Gi"}})], ["c"]),
        ([{"name": "r", "firstAvailable": [{"name": "no", **asked(count=5)}, {"name": "yes", **asked()}]}], ["a"]),
    ],
)
def test_what_is_given(devices: Rig, wanted: list[dict[str, Any]], expected: list[str] | None) -> None:
    big = {"memory": {"value": "4Gi"}}
    small = {"memory": {"value": "1Gi"}}
    published(
        devices,
        "n1",
        device("a", size=1, capacity=small),
        device("b", size=2, capacity=small),
        device("c", size=3, capacity=big),
        device("t", size=4, taint="broken", capacity=small),
    )
    claim(devices, "x", *wanted)
    assert (given(devices) == [expected]) if expected else reason(devices).startswith("2 cannot allocate all claims.")


def test_the_node_with_the_better_alternative_is_taken(devices: Rig) -> None:
    published(devices, "n1", device("small", size=1))
    published(devices, "n2", device("large", size=2))
    ways = [{"name": f"s{size}", **asked(f"device.attributes['{DRIVER}'].size == {size}")} for size in (2, 1)]
    claim(devices, "x", {"name": "r", "firstAvailable": ways})
    assert place(devices, user()).node == "n2"


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [({"matchAttribute": f"{DRIVER}/numa"}, ["b", "c"]), ({"distinctAttribute": f"{DRIVER}/numa"}, ["a", "b"])],
)
def test_constraints(devices: Rig, constraint: dict[str, Any], expected: list[str]) -> None:
    published(devices, "n1", device("a", numa=0), device("b", numa=1), device("c", numa=1), device("d"))
    claim(devices, "x", request(count=2), constraints=[constraint])
    assert given(devices) == [expected]


def test_only_the_newest_generation_of_a_pool_counts_and_only_a_whole_one(devices: Rig) -> None:
    published(devices, "n1", device("old"))
    published(devices, "n1", device("new"), generation=2, count=2)
    claim(devices, "x", request())
    assert reason(devices).startswith("2 cannot allocate all claims.")
    claim(devices, "y", request(allocationMode="All"))
    message = "claim d/y, request r: asks for all devices, but resource pool d.example.com/n1 is currently being updated"
    with pytest.raises(CycleError, match=re.escape(message)):
        devices.no_fit(user("y"))
    published(devices, "n1", device("new"), generation=2)
    assert given(devices) == [["new"]]


def test_all_devices_are_all_even_those_that_cannot_be_had(devices: Rig) -> None:
    published(devices, "n1", device("a", numa=1), device("b", numa=2), device("t", taint="broken"))
    claim(devices, "x", request(allocationMode="All"))
    assert reason(devices).startswith("2 cannot allocate all claims.")
    here = f"'numa' in device.attributes['{DRIVER}']"
    same = [{"requests": ["r"], "matchAttribute": f"{DRIVER}/numa"}]
    claim(devices, "x", request("r", here, allocationMode="All"), constraints=same)
    message = f"claim d/x, request r: cannot add device {DRIVER}/n1/b because a claim constraint would not be satisfied"
    with pytest.raises(CycleError, match=re.escape(message)):
        devices.no_fit(user())


def test_devices_that_need_not_be_made_ready_come_first(devices: Rig) -> None:
    published(devices, "n1", {**device("slow"), "bindingConditions": ["Ready"]}, pool="a")
    published(devices, "other", device("quick"), pool="b", nodeName="n1")
    claim(devices, "x", request(count=2))
    assert given(devices) == [["quick", "slow"]]


def test_parts_of_a_device_share_its_counters(devices: Rig) -> None:
    def part(name: str, memory: str) -> dict[str, Any]:
        return {**device(name), "consumesCounters": [{"counterSet": "whole", "counters": {"memory": {"value": memory}}}]}

    published(devices, "n1", part("large", "3Gi"), part("half", "2Gi"), part("other", "2Gi"), part("small", "1Gi"), count=2)
    shared = [{"name": "whole", "counters": {"memory": {"value": "4Gi"}}}]
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    spec = {"driver": DRIVER, "pool": pool, "nodeName": "n1", "sharedCounters": shared}
    devices.collections.put(RESOURCESLICES, {"metadata": {"name": "counters"}, "spec": spec})
    claim(devices, "x", request(count=2))
    assert given(devices, "x") == [["large", "small"]]
    claim(devices, "y", request())
    assert reason(devices, "y").startswith("2 cannot allocate all claims.")


@pytest.mark.parametrize(
    ("policy", "asked", "taken"),
    [
        (None, None, "10Gi"),
        (None, "6Gi", "6Gi"),
        (None, "11Gi", None),
        ({"default": "4Gi", "validRange": {"min": "2Gi", "step": "2Gi"}}, None, "4Gi"),
        ({"default": "4Gi", "validRange": {"min": "2Gi", "step": "2Gi"}}, "5Gi", "6Gi"),
        ({"default": "4Gi", "validRange": {"min": "2Gi", "step": "2Gi"}}, "1Gi", "2Gi"),
        ({"default": "4Gi", "validRange": {"min": "2Gi", "max": "6Gi"}}, "7Gi", None),
        ({"default": "1Gi", "validValues": ["1Gi", "8Gi"]}, "2Gi", "8Gi"),
        ({"default": "1Gi", "validValues": ["1Gi", "8Gi"]}, "9Gi", None),
    ],
)
def test_the_share_of_a_device(policy: Any, asked: str | None, taken: str | None) -> None:
    capacity = {"memory": {"value": "10Gi", "requestPolicy": policy}}
    found = share_of(convert({"name": "d", "capacity": capacity}, Device), {"memory": asked} if asked else {})
    assert (found and str(found["memory"])) == taken
    assert share_of(convert({"name": "d", "capacity": capacity}, Device), {"other": "1"}) is None


def test_claims_share_a_device_until_its_capacity_is_used_up(devices: Rig) -> None:
    memory = {"memory": {"value": "10Gi"}}
    published(devices, "n1", {**device("a", capacity=memory), "allowMultipleAllocations": True})
    for name, amount in (("x", "6Gi"), ("y", "3Gi"), ("z", "2Gi")):
        claim(devices, name, request(capacity={"requests": {"memory": amount}}))
    assert given(devices, "x") == [["a"]]
    assert given(devices, "y") == [["a"]]
    assert reason(devices, "z").startswith("2 cannot allocate all claims.")
    results = [
        {"request": "r", "driver": DRIVER, "pool": "n1", "device": "a", "shareID": "s", "consumedCapacity": {"memory": "8Gi"}}
    ]
    claim(devices, "x", status={"allocation": {"devices": {"results": results}}}, metadata={"uid": "again"})
    assert reason(devices, "z").startswith("2 cannot allocate all claims.")


GPU = "example.com/gpu"


def consumer(*containers: tuple[int, str], name: str = "p") -> Pod:
    """A pod whose containers ask for so many GPUs; the kind is "", "init" or "sidecar"."""
    made = [
        {
            "name": f"{kind or 'c'}{index}",
            "resources": {"requests": {"cpu": "1", GPU: str(count)} if count else {}},
            "restartPolicy": "Always" if kind == "sidecar" else None,
        }
        for index, (count, kind) in enumerate(containers)
    ]
    split = sum(1 for _, kind in containers if kind)
    return pod(name, initContainers=made[:split], containers=made[split:])


def test_a_device_class_stands_for_an_extended_resource_where_the_node_has_none(devices: Rig) -> None:
    devices.nodes(node("n1", more={GPU: "0"}), node("n2", more={GPU: "1"}))
    wanted = consumer((2, ""))
    assert str(devices.no_fit(wanted)).startswith("0/2 nodes are available: 2 Insufficient example.com/gpu.")
    devices.profile.forget()
    devices.collections.put(DEVICECLASSES, {"metadata": {"name": "c"}, "spec": {"extendedResourceName": GPU}})
    assert "1 Insufficient example.com/gpu, 1 cannot allocate all claims." in str(devices.no_fit(wanted))
    published(devices, "n1", device("a"), device("b"))
    found = place(devices, wanted)
    assert found.node == "n1"
    extra, gives = found.state.read(PodClaims).extra["n1"]
    assert [(each.wish.name, each.offer.key[2]) for each in gives] == [
        ("container-0-request-1", "a"),
        ("container-0-request-1", "b"),
    ]
    assert extra.body["metadata"]["generateName"] == "p-extended-resources-"
    devices.profile.reserve(found.state, wanted, "n1")
    assert "1 cannot allocate all claims" in str(devices.no_fit(consumer((2, ""), name="q")))
    devices.profile.unreserve(found.state, wanted, "n1")
    assert place(devices, consumer((2, ""), name="q")).node == "n1"


@pytest.mark.parametrize(
    ("containers", "requests", "mappings"),
    [
        ([(1, ""), (2, "")], {"container-0-request-1": 1, "container-1-request-1": 2}, ["c0 0", "c1 1"]),
        ([(1, "init"), (2, "")], {"container-1-request-1": 2}, ["c1 1", "init0 1"]),
        (
            [(3, "init"), (4, "init"), (2, "")],
            {"container-1-request-1": 2, "container-2-request-1": 2},
            [*["c2 2", "init0 2", "init0 1", "init1 2", "init1 1"]],
        ),
        (
            [(1, "sidecar"), (1, "init"), (1, "")],
            {"container-0-request-1": 1, "container-2-request-1": 1},
            ["sidecar0 0", "c2 2", "init1 2"],
        ),
    ],
)
def test_what_is_asked_for_extended_resources(
    devices: Rig, containers: list[tuple[int, str]], requests: dict[str, int], mappings: list[str]
) -> None:
    devices.collections.put(DEVICECLASSES, {"metadata": {"name": "c"}, "spec": {"extendedResourceName": GPU}})
    made = extended_claim(consumer(*containers), [GPU], ExtendedResources(devices.collections))
    assert {each.name: each.exactly.count for each in made.claim.spec.devices.requests or () if each.exactly} == requests
    assert [f"{each.container} {each.request.split('-')[1]}" for each in made.mappings] == mappings


def test_pools_with_two_devices_of_a_name_are_invalid(devices: Rig) -> None:
    published(devices, "n1", device("a"), device("a"))
    claim(devices, "x", request())
    assert reason(devices).startswith("1 cannot allocate all claims, 1 invalid resource pools were encountered.")


def test_an_allocated_claim_keeps_the_pod_on_its_node_and_its_devices(devices: Rig) -> None:
    published(devices, "n1", device("a"))
    selector = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}
    results = [{"request": "r", "driver": DRIVER, "pool": "n1", "device": "a"}]
    claim(devices, "x", request(), status={"allocation": {"devices": {"results": results}, "nodeSelector": selector}})
    assert place(devices, user("x")).node == "n1"
    claim(devices, "y", request())
    assert reason(devices, "y").startswith("2 cannot allocate all claims.")


@pytest.mark.parametrize(
    ("users", "said", "freed"),
    [
        ([], "deallocation of ResourceClaim completed", ["devices of d/x"]),
        (["other"], "still not schedulable", []),
    ],
)
def test_a_claim_whose_devices_are_out_of_reach_is_freed_if_nobody_else_uses_it(
    devices: Rig, users: list[str], said: str, freed: list[str]
) -> None:
    selector = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}]}
    results = [{"request": "r", "driver": DRIVER, "pool": "gone", "device": "a"}]
    reserved = [{"resource": "pods", "name": each, "uid": each} for each in users]
    status = {"allocation": {"devices": {"results": results}, "nodeSelector": selector}, "reservedFor": reserved}
    claim(devices, "x", request(), status=status)
    assert reason(devices) == f"2 resourceclaim not available on the node. {said}, {HELPLESS}"
    assert [name for name, _ in devices.handle.later] == freed


def test_a_claim_serves_so_many_pods_and_no_more(devices: Rig) -> None:
    reserved = [{"resource": "pods", "name": f"p{n}", "uid": f"u{n}"} for n in range(256)]
    claim(devices, "x", request(), status={"allocation": {"devices": {"results": []}}, "reservedFor": reserved})
    assert reason(devices) == f"resourceclaim in use. no new claims to deallocate, {HELPLESS}"


def test_what_was_reserved_is_given_back(devices: Rig) -> None:
    wanted = user()
    reserved = [{"resource": "pods", "name": "p", "uid": wanted.metadata.uid}]
    claim(devices, "x", request(), status={"allocation": {"devices": {"results": []}}, "reservedFor": reserved})
    found = place(devices, wanted)
    devices.profile.unreserve(found.state, wanted, found.node)
    assert [name for name, _ in devices.handle.later] == ["reservation of d/x"]


@pytest.mark.parametrize(
    ("conditions", "late", "outcome"),
    [
        ([], False, "waits"),
        ([], True, "others"),
        ([("Ready", "True")], True, "goes"),
        ([("Ready", "False")], False, "waits"),
        ([("Broken", "True")], False, "others"),
    ],
)
def test_devices_that_have_to_be_made_ready(conditions: list[tuple[str, str]], late: bool, outcome: str) -> None:
    result = {"request": "r", "driver": DRIVER, "pool": "p", "device": "a"}
    reported = [
        {**result, "conditions": [{"type": kind, "status": status, "reason": "R", "message": "m"} for kind, status in conditions]}
    ]
    results = [{**result, "bindingConditions": ["Ready"], "bindingFailureConditions": ["Broken"]}]
    allocated = {"allocationTimestamp": "1970-01-01T00:00:00Z", "devices": {"results": results}}
    body = {"metadata": {"name": "x"}, "status": {"allocation": allocated, "devices": reported if conditions else []}}
    known = convert(body, ResourceClaim)
    assert has_conditions(known)
    assert will_not_be_ready(known, 700.0 if late else 500.0, 600.0) == (outcome == "others")
    if conditions == [("Broken", "True")]:
        with pytest.raises(BindingFailed, match=r'claim x binding failed: reason=R, message="m"'):
            is_ready(known)
    else:
        assert is_ready(known) == (outcome == "goes")


def test_an_expression_that_fails_is_the_pods_error(devices: Rig) -> None:
    published(devices, "n1", device("a"))
    claim(devices, "x", request("r", f"device.attributes['{DRIVER}'].size > 1"))
    with pytest.raises(CycleError, match="claim d/x: selector #0: CEL runtime error: no such key: size"):
        devices.no_fit(user())


def test_what_is_written(devices: Rig) -> None:
    everywhere: dict[str, Any] = {
        "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}
    }
    devices.nodes(node("n1", labels={"a": "b"}))
    published(devices, "n1", device("a"), **everywhere)
    own = [{"opaque": {"driver": DRIVER, "parameters": {"a": 1}}}, {"requests": ["other"], "opaque": {"driver": DRIVER}}]
    claim(devices, "x", request(adminAccess=True), config=own)
    found = place(devices, user())
    state = found.state.read(PodClaims)
    assert allocation(state.all[0], state.gives["n1"][0], 0.0) == {
        "allocationTimestamp": "1970-01-01T00:00:00Z",
        "devices": {
            "results": [{"request": "r", "driver": DRIVER, "pool": "n1", "device": "a", "adminAccess": True}],
            "config": [{"source": "FromClaim", "opaque": {"driver": DRIVER, "parameters": {"a": 1}}}],
        },
        "nodeSelector": everywhere["nodeSelector"],
    }
