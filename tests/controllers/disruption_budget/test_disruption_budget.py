from __future__ import annotations

from typing import Any

import pytest

from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import Pod
from setpoint.api.types.policy_v1 import PodDisruptionBudget
from setpoint.controllers.disruption_budget.status import Observed, Scale, ScaleError, calculate, overdue
from setpoint.kit.clock import rfc3339

SCALES = {"r": Scale("r", 3), "new": Scale("d", 2), "old": Scale("d", 2)}

NAME = "disruption-controller"
BUDGET = "/apis/policy/v1/namespaces/ns/poddisruptionbudgets/b"


def budget(**spec: Any) -> PodDisruptionBudget:
    return convert({"metadata": {"name": "b", "generation": 2}, "spec": {"selector": {}, **spec}}, PodDisruptionBudget)


def pod(name: str, *, ready: bool = True, owner: str = "", **metadata: Any) -> Pod:
    meta = {"name": name, **metadata}
    if owner:
        meta["ownerReferences"] = [{"kind": "ReplicaSet", "name": owner, "uid": owner, "controller": True}]
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    return convert({"metadata": meta, "status": {"phase": "Running", "conditions": conditions}}, Pod)


@pytest.mark.parametrize(
    ("spec", "pods", "wanted"),
    [
        ({"minAvailable": 1}, [pod("a"), pod("b")], (2, 1, 2, 1)),
        ({"minAvailable": 1}, [], (0, 1, 0, 0)),
        ({"minAvailable": "50%"}, [pod("a", owner="r"), pod("b", owner="r")], (2, 2, 3, 0)),
        ({"maxUnavailable": 1}, [pod("a")], (1, 0, 0, 0)),
        ({"maxUnavailable": "34%"}, [pod("a", owner="r"), pod("b", owner="r")], (2, 1, 3, 1)),
        ({"maxUnavailable": 1}, [pod("a", owner="new"), pod("b", owner="old"), pod("c", owner="r")], (3, 4, 5, 0)),
        ({}, [pod("a"), pod("b")], (2, 0, 0, 0)),
        ({"minAvailable": 0}, [pod("a", ready=False), pod("b", deletionTimestamp="2030-01-01T00:00:00Z")], (0, 0, 2, 0)),
    ],
)
def test_counts(spec: Any, pods: list[Pod], wanted: tuple[int, int, int, int]) -> None:
    status = calculate(Observed(budget(**spec), pods, SCALES, 0.0))
    assert (status.current_healthy, status.desired_healthy, status.expected_pods, status.disruptions_allowed) == wanted
    assert status.conditions[0].status == ("True" if wanted[3] else "False")


def test_a_controller_that_is_not_known_is_an_error() -> None:
    with pytest.raises(ScaleError, match='found no controllers for pod "a"'):
        calculate(Observed(budget(maxUnavailable=1), [pod("a", owner="x")], {"x": None}, 0.0))


def test_pods_that_were_to_be_gone_are_overdue() -> None:
    status = {"disruptedPods": {name: rfc3339(0.0) for name in ("a", "b", "gone")}}
    limits = convert(
        {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {}}, "status": status}, PodDisruptionBudget
    )
    pods = [pod("a"), pod("b", deletionTimestamp="2030-01-01T00:00:00Z"), pod("c")]
    assert [[each.metadata.name for each in overdue(Observed(limits, pods, {}, now))] for now in (119.0, 121.0)] == [[], ["a"]]


async def test_evictions_are_counted_and_given_back(world: Any) -> None:
    await world.namespace("ns", account=True)
    for name in ("p", "q"):
        body = {"metadata": {"name": name}, "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}}
        await world.call("POST", "/api/v1/namespaces/ns/pods", body)
        status = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
        await world.merge(f"/api/v1/namespaces/ns/pods/{name}/status", status)
    await world.call("POST", BUDGET.removesuffix("/b"), {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {}}})
    await world.run(NAME)
    assert (await world.get(BUDGET))["status"]["disruptionsAllowed"] == 1
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}
    await world.call("POST", "/api/v1/namespaces/ns/pods/p/eviction", eviction)
    assert (await world.get(BUDGET))["status"]["disruptionsAllowed"] == 0
    await world.call("DELETE", "/api/v1/namespaces/ns/pods/p", {"gracePeriodSeconds": 0})
    await world.clock.advance(1)
    status = (await world.get(BUDGET))["status"]
    assert (status["expectedPods"], status["currentHealthy"], status.get("disruptedPods")) == (1, 1, None)


async def test_a_controller_without_scale_is_an_error_and_pods_without_one_are_told_of(world: Any) -> None:
    await world.namespace("ns", account=True)
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}
    for name, owners in (("free", []), ("owned", [owner])):
        body = {"metadata": {"name": name, "ownerReferences": owners}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        await world.call("POST", "/api/v1/namespaces/ns/pods", body)
    spec = {"maxUnavailable": 1, "selector": {}}
    await world.call("POST", BUDGET.removesuffix("/b"), {"metadata": {"name": "b"}, "spec": spec})
    await world.run(NAME)
    (condition,) = (await world.get(BUDGET))["status"]["conditions"]
    assert condition["message"] == "jobs.batch does not implement the scale subresource"
    assert (condition["reason"], condition.get("observedGeneration")) == ("SyncFailed", None)
    await world.call("DELETE", "/api/v1/namespaces/ns/pods/owned", {"gracePeriodSeconds": 0})
    await world.clock.advance(1)
    assert (await world.get(BUDGET))["status"]["expectedPods"] == 0
    events = (await world.call("GET", "/api/v1/namespaces/ns/events"))["items"]
    assert {each["reason"] for each in events} == {"CalculateExpectedPodCountFailed", "UnmanagedPods"}


async def test_a_pod_that_did_not_go_is_no_longer_said_to(world: Any) -> None:
    await world.namespace("ns", account=True)
    body = {"metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}}
    await world.call("POST", "/api/v1/namespaces/ns/pods", body)
    path = "/api/v1/namespaces/ns/pods/p"
    told = {"type": "DisruptionTarget", "status": "True", "reason": "x", "lastTransitionTime": rfc3339(world.clock.now())}
    await world.merge(f"{path}/status", {"status": {"phase": "Running", "conditions": [told]}})
    await world.run(NAME)
    await world.clock.advance(110)
    assert (await world.get(path))["status"]["conditions"][0]["status"] == "True"
    await world.clock.advance(15)
    condition = (await world.get(path))["status"]["conditions"][0]
    assert (condition["status"], condition.get("reason")) == ("False", None)
