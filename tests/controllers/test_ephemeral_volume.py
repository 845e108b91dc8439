"""Claims of generic ephemeral volumes."""

from __future__ import annotations

from typing import Any

NAME = "ephemeral-volume-controller"
PODS, CLAIMS = "/api/v1/namespaces/n/pods", "/api/v1/namespaces/n/persistentvolumeclaims"


def pod(*volumes: str) -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "x"}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
    named = [{"name": name, "ephemeral": {"volumeClaimTemplate": template}} for name in volumes]
    return {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}], "volumes": named}}


async def test_a_claim_is_made_and_made_again(world: Any) -> None:
    await world.namespace("n", account=True)
    await world.run(NAME)
    made = await world.call("POST", PODS, pod("v", "w"))
    await world.clock.advance(1)
    claim = await world.get(f"{CLAIMS}/p-v")
    assert claim["metadata"]["labels"] == {"a": "b"}
    reference = claim["metadata"]["ownerReferences"][0]
    assert (reference["uid"], reference["controller"], reference["kind"]) == (made["metadata"]["uid"], True, "Pod")
    assert claim["spec"]["storageClassName"] == "x"
    await world.merge(f"{CLAIMS}/p-v", {"metadata": {"finalizers": None}})
    await world.call("DELETE", f"{CLAIMS}/p-v")
    await world.clock.advance(1)
    assert (await world.get(f"{CLAIMS}/p-v"))["metadata"]["uid"] != claim["metadata"]["uid"]


async def test_a_claim_of_another_is_left_alone(world: Any) -> None:
    await world.namespace("n", account=True)
    await world.run(NAME)
    spec = pod("v")["spec"]["volumes"][0]["ephemeral"]["volumeClaimTemplate"]["spec"]
    await world.call("POST", CLAIMS, {"metadata": {"name": "p-v"}, "spec": spec})
    await world.call("POST", PODS, pod("u", "v"))
    await world.clock.advance(2)
    assert await world.names(CLAIMS) == ["p-u", "p-v"]
    events = (await world.call("GET", "/api/v1/namespaces/n/events"))["items"]
    assert {each["message"] for each in events} == {
        'ephemeral volume "v": PVC n/p-v was not created for pod n/p (pod is not owner)'
    }
