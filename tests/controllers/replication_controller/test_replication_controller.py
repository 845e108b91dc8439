from __future__ import annotations

from typing import Any

CONTROLLER = "/api/v1/namespaces/ns/replicationcontrollers/r"


async def test_pods_are_made_owned_and_taken_away(world: Any) -> None:
    await world.namespace("ns", account=True)
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    body = {"metadata": {"name": "r"}, "spec": {"replicas": 2, "selector": {"a": "b"}, "template": template}}
    await world.call("POST", CONTROLLER.removesuffix("/r"), body)
    await world.run("replication-controller", "replicaset-controller")
    pods = (await world.call("GET", "/api/v1/namespaces/ns/pods"))["items"]
    assert [pod["metadata"]["ownerReferences"][0]["kind"] for pod in pods] == ["ReplicationController"] * 2
    status = (await world.get(CONTROLLER))["status"]
    assert (status["replicas"], status["fullyLabeledReplicas"], status["observedGeneration"]) == (2, 2, 1)
    await world.merge(CONTROLLER, {"spec": {"replicas": 0}})
    await world.clock.advance(1)
    assert await world.names("/api/v1/namespaces/ns/pods") == []
    assert (await world.get(CONTROLLER))["status"]["replicas"] == 0
