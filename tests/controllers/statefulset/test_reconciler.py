from __future__ import annotations

from typing import Any


async def test_a_pod_of_a_stateful_set_gets_its_labels_back(world: Any) -> None:
    await world.namespace("default", account=True)
    await world.run("statefulset-controller")
    labels = {"app": "s"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"serviceName": "s", "selector": {"matchLabels": labels}, "template": template, "podManagementPolicy": "Parallel"}
    await world.call("POST", "/apis/apps/v1/namespaces/default/statefulsets", {"metadata": {"name": "s"}, "spec": spec})
    await world.clock.advance(1)
    pod = "/api/v1/namespaces/default/pods/s-0"
    before = await world.get(pod)
    await world.merge(pod, {"metadata": {"labels": {"statefulset.kubernetes.io/pod-name": None}}})
    await world.clock.advance(1)
    after = await world.get(pod)
    assert (after["metadata"]["labels"], after["metadata"]["uid"]) == (before["metadata"]["labels"], before["metadata"]["uid"])


async def test_another_retention_policy_updates_the_claims_and_tells_of_their_pods(world: Any) -> None:
    await world.namespace("default", account=True)
    await world.run("statefulset-controller")
    labels = {"app": "s"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    templates = [{"metadata": {"name": "data"}, "spec": claim}]
    spec = {
        "selector": {"matchLabels": labels},
        "template": template,
        "volumeClaimTemplates": templates,
        "podManagementPolicy": "Parallel",
    }
    sets = "/apis/apps/v1/namespaces/default/statefulsets"
    await world.call("POST", sets, {"metadata": {"name": "s"}, "spec": spec})
    await world.clock.advance(1)
    await world.merge(f"{sets}/s", {"spec": {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}}})
    await world.clock.advance(1)
    [owner] = (await world.get("/api/v1/namespaces/default/persistentvolumeclaims/data-s-0"))["metadata"]["ownerReferences"]
    events = (await world.call("GET", "/api/v1/namespaces/default/events"))["items"]
    assert (owner["name"], [event["reason"] for event in events].count("SuccessfulUpdate")) == ("s", 1)
