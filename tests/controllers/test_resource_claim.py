"""Claims of devices: made from templates, freed when their pods are over."""

from __future__ import annotations

from typing import Any

import pytest

from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import Pod
from setpoint.controllers.resource_claim import names

NAME = "resourceclaim-controller"
PODS, POD = "/api/v1/namespaces/n/pods", "/api/v1/namespaces/n/pods/p"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/n/resourceclaims"
SPEC = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}}
DEVICE = {"request": "r", "driver": "d.example", "pool": "pool", "device": "one"}


def pod(claims: list[dict[str, str]], **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "i"}
    return {"metadata": {"name": "p"}, "spec": {"containers": [container], "resourceClaims": claims, **spec}}


@pytest.mark.parametrize(
    ("parts", "expected"),
    [(("p", "gpu"), "p-gpu-"), (("p" * 60, "g" * 20), f"{'p' * 41}-{'g' * 13}")],
)
def test_names_that_are_too_long_keep_their_share(parts: tuple[str, str], expected: str) -> None:
    assert names.generate_name(*parts) == expected


def test_the_claim_of_extended_resources_is_one_of_the_pods() -> None:
    status = {"extendedResourceClaimStatus": {"requestMappings": [], "resourceClaimName": "made"}}
    known = convert({**pod([{"name": "a", "resourceClaimName": "own"}]), "status": status}, Pod)
    assert [*names.known_names(known)] == ["own", "made"]


async def test_a_claim_is_made_from_its_template_and_goes_when_the_pod_is_over(world: Any) -> None:
    await world.namespace("n", account=True)
    await world.run(NAME)
    await world.call("POST", PODS, pod([{"name": "gpu", "resourceClaimTemplateName": "t"}]))
    await world.clock.advance(0.1)
    (event,) = (await world.call("GET", "/api/v1/namespaces/n/events"))["items"]
    assert event["reason"] == "FailedResourceClaimCreation"
    why = 'PodResourceClaim gpu: resource claim template "t": resourceclaimtemplate.resource.k8s.io "t" not found'
    assert event["message"] == why
    template = {"metadata": {"name": "t"}, "spec": {"metadata": {"labels": {"x": "y"}}, "spec": SPEC}}
    await world.call("POST", "/apis/resource.k8s.io/v1/namespaces/n/resourceclaimtemplates", template)
    await world.clock.advance(10)
    (claim,) = (await world.call("GET", CLAIMS))["items"]
    assert claim["metadata"]["labels"] == {"x": "y"}
    assert claim["metadata"]["annotations"] == {names.ANNOTATION: "gpu"}
    status = (await world.get(POD))["status"]
    assert status["resourceClaimStatuses"] == [{"name": "gpu", "resourceClaimName": claim["metadata"]["name"]}]
    await world.call("DELETE", f"{CLAIMS}/{claim['metadata']['name']}")
    await world.clock.advance(1)
    (again,) = await world.names(CLAIMS)
    assert again != claim["metadata"]["name"]
    assert (await world.get(POD))["status"]["resourceClaimStatuses"][0]["resourceClaimName"] == again
    await world.merge(f"{POD}/status", {"status": {"phase": "Succeeded"}})
    await world.clock.advance(1)
    assert await world.names(CLAIMS) == []


async def test_a_claim_is_reserved_for_a_pod_with_a_node_and_free_after_it(world: Any) -> None:
    await world.namespace("n", account=True)
    await world.call("POST", "/api/v1/nodes", {"metadata": {"name": "node"}})
    await world.run(NAME)
    finalizers = ["resource.kubernetes.io/delete-protection"]
    await world.call("POST", CLAIMS, {"metadata": {"name": "c", "finalizers": finalizers}, "spec": SPEC})
    await world.merge(f"{CLAIMS}/c/status", {"status": {"allocation": {"devices": {"results": [DEVICE]}}}})
    made = await world.call("POST", PODS, pod([{"name": "gpu", "resourceClaimName": "c"}], nodeName="node"))
    await world.clock.advance(1)
    held = (await world.get(f"{CLAIMS}/c"))["status"]["reservedFor"]
    assert held == [{"resource": "pods", "name": "p", "uid": made["metadata"]["uid"]}]
    await world.call("DELETE", POD, {"gracePeriodSeconds": 0})
    await world.clock.advance(1)
    claim = await world.get(f"{CLAIMS}/c")
    assert (claim.get("status") or {}) == {}
    assert "finalizers" not in claim["metadata"]


async def test_a_claim_is_not_kept_for_a_pod_that_never_was(world: Any) -> None:
    await world.namespace("n", account=True)
    await world.run(NAME)
    await world.call("POST", CLAIMS, {"metadata": {"name": "c"}, "spec": SPEC})
    held = {"reservedFor": [{"resource": "pods", "name": "gone", "uid": "u"}]}
    await world.merge(f"{CLAIMS}/c/status", {"status": {"allocation": {"devices": {"results": [DEVICE]}}, **held}})
    await world.clock.advance(1)
    assert [*(await world.get(f"{CLAIMS}/c"))["status"]] == ["allocation"]


async def test_a_taint_of_a_device_ends_the_pod_that_has_it_when_its_toleration_ends(world: Any) -> None:
    await world.namespace("n", account=True)
    await world.call("POST", "/api/v1/nodes", {"metadata": {"name": "node"}})
    await world.run("device-taint-eviction-controller")
    await world.call("POST", CLAIMS, {"metadata": {"name": "c"}, "spec": SPEC})
    made = await world.call("POST", PODS, pod([{"name": "gpu", "resourceClaimName": "c"}], nodeName="node"))
    consumer = {"resource": "pods", "name": "p", "uid": made["metadata"]["uid"]}
    tolerations = [{"key": "ill", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}]
    results = [{**DEVICE, "tolerations": tolerations}]
    status = {"allocation": {"devices": {"results": results}}, "reservedFor": [consumer]}
    await world.merge(f"{CLAIMS}/c/status", {"status": status})
    spec = {"driver": "d.example", "nodeName": "node", "pool": {"name": "pool", "generation": 1, "resourceSliceCount": 1}}
    slices = "/apis/resource.k8s.io/v1/resourceslices"
    taints = [{"key": "ill", "effect": "NoExecute"}]
    body = {"metadata": {"name": "s"}, "spec": {**spec, "devices": [{"name": "one", "taints": taints}]}}
    await world.call("POST", slices, body)
    await world.clock.advance(30)
    assert "deletionTimestamp" not in (await world.get(POD))["metadata"]
    await world.clock.advance(40)
    gone = await world.get(POD)
    assert gone["metadata"]["deletionTimestamp"]
    (condition,) = gone["status"]["conditions"]
    assert (condition["type"], condition["reason"]) == ("DisruptionTarget", "DeletionByDeviceTaintManager")
