"""What writes do to versions, generations and status, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest
from tests.behaviours.conftest import APPLY, STRATEGIC

CONFIGMAPS = "/api/v1/namespaces/ns1/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/ns1/deployments"
PODS = "/api/v1/namespaces/ns1/pods"
CONTAINER = {"name": "c", "image": "i"}


def deployment(**spec: Any) -> dict[str, Any]:
    labels = {"app": "a"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [CONTAINER]}}
    return {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": labels}, "template": template, **spec}}


async def test_writes_that_change_nothing_are_none(api: Any) -> None:
    await api(f"POST {DEPLOYMENTS}", deployment())
    await api.merge(f"{DEPLOYMENTS}/d/status", {"status": {"replicas": 1}})
    applied = {"apiVersion": "apps/v1", "kind": "Deployment", **deployment(), "metadata": {"name": "d", "labels": {"l": "1"}}}
    apply = f"PATCH {DEPLOYMENTS}/d?fieldManager=m"
    before = await api(apply, applied, content_type=APPLY)
    seen = await api.watch(f"{DEPLOYMENTS}?watch=1&resourceVersion={before['metadata']['resourceVersion']}")
    await api.clock.advance(100)
    assert await api(f"PUT {DEPLOYMENTS}/d", before) == before
    assert await api.merge(f"{DEPLOYMENTS}/d", {}) == before
    assert await api.merge(f"{DEPLOYMENTS}/d", {"spec": {"replicas": 1}, "metadata": {"labels": {"l": "1"}}}) == before
    assert await api(f"PATCH {DEPLOYMENTS}/d", {"spec": {"paused": None}}, content_type=STRATEGIC) == before
    assert await api(apply, applied, content_type=APPLY) == before
    assert await api.merge(f"{DEPLOYMENTS}/d/status", {"status": {"replicas": 1}}) == before
    assert await api(f"PUT {DEPLOYMENTS}/d/status", before) == before
    await api.merge(f"{DEPLOYMENTS}/d", {"metadata": {"labels": {"l": "2"}}})
    event = await seen.next()
    assert event["object"]["metadata"]["labels"] == {"l": "2"}


UNCONDITIONAL = {
    "configmaps": (CONFIGMAPS, {}),
    "deployments": (DEPLOYMENTS, deployment()),
    "pods": (PODS, {"spec": {"containers": [CONTAINER]}}),
}
CONDITIONAL: dict[str, tuple[str, dict[str, Any]]] = {
    "leases": ("/apis/coordination.k8s.io/v1/namespaces/ns1/leases", {"spec": {"holderIdentity": "me"}}),
    "poddisruptionbudgets": (
        "/apis/policy/v1/namespaces/ns1/poddisruptionbudgets",
        {"spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}},
    ),
    "validatingwebhookconfigurations": ("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {}),
    "mutatingwebhookconfigurations": ("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {}),
    "runtimeclasses": ("/apis/node.k8s.io/v1/runtimeclasses", {"handler": "h"}),
    "csidrivers": ("/apis/storage.k8s.io/v1/csidrivers", {"spec": {}}),
    "csinodes": ("/apis/storage.k8s.io/v1/csinodes", {"spec": {"drivers": []}}),
    "volumeattachments": (
        "/apis/storage.k8s.io/v1/volumeattachments",
        {"spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}},
    ),
}


@pytest.mark.parametrize("kind", UNCONDITIONAL)
async def test_a_put_without_a_version_where_the_kind_allows_it(api: Any, kind: str) -> None:
    path, body = UNCONDITIONAL[kind]
    made = await api(f"POST {path}", {**body, "metadata": {"name": "d"}})
    del made["metadata"]["resourceVersion"]
    stored = await api(f"PUT {path}/d", {**made, "metadata": {**made["metadata"], "labels": {"l": "1"}}})
    await check_stale(api, path, stored)


@pytest.mark.parametrize("kind", CONDITIONAL)
async def test_a_put_without_a_version_where_the_kind_needs_one(api: Any, kind: str) -> None:
    path, body = CONDITIONAL[kind]
    made = await api(f"POST {path}", {**body, "metadata": {"name": "d"}})
    bare = {**made, "metadata": {key: value for key, value in made["metadata"].items() if key != "resourceVersion"}}
    refused = await api(f"PUT {path}/d", bare, code=422)
    assert refused["reason"] == "Invalid"
    assert [cause["field"] for cause in refused["details"]["causes"]] == ["metadata.resourceVersion"]
    await check_stale(api, path, made)


async def check_stale(api: Any, path: str, made: dict[str, Any]) -> None:
    """A stale version is a conflict for every kind and every form of update; a patch without one always works."""
    stale = made["metadata"]["resourceVersion"]
    await api.merge(f"{path}/d", {"metadata": {"labels": {"l": "2"}}})
    version = await api.version(path)
    assert (await api(f"PUT {path}/d", made, code=409))["reason"] == "Conflict"
    patch = {"metadata": {"resourceVersion": stale, "labels": {"l": "3"}}}
    assert (await api.merge(f"{path}/d", patch, code=409))["reason"] == "Conflict"
    assert await api.version(path) == version


async def test_the_generation_of_a_deployment_and_of_a_config_map(api: Any) -> None:
    made = await api(f"POST {DEPLOYMENTS}", {**deployment(), "metadata": {"name": "d", "generation": 99}})
    assert made["metadata"]["generation"] == 1

    async def after(patch: dict[str, Any], path: str = f"{DEPLOYMENTS}/d") -> int:
        held: int = (await api.merge(path, patch))["metadata"]["generation"]
        return held

    assert await after({"metadata": {"labels": {"l": "1"}}}) == 1
    assert await after({"metadata": {"annotations": {"a": "1"}}}) == 2
    assert await after({"spec": {"replicas": 2}}) == 3
    assert await after({"status": {"replicas": 2}}) == 3
    assert await after({"status": {"replicas": 2}}, f"{DEPLOYMENTS}/d/status") == 3
    assert await after({"metadata": {"generation": 7}}) == 3
    assert await after({"metadata": {"finalizers": ["x.io/a"]}}) == 3
    assert (await api(f"DELETE {DEPLOYMENTS}/d"))["metadata"]["generation"] == 4
    await api.make(CONFIGMAPS, "c", data={"k": "1"})
    assert "generation" not in (await api.merge(f"{CONFIGMAPS}/c", {"data": {"k": "2"}}))["metadata"]


async def test_status_is_written_through_its_own_resource_alone(api: Any) -> None:
    made = await api(f"POST {DEPLOYMENTS}", {**deployment(), "status": {"replicas": 5}})
    assert made["status"] == {}
    await api.merge(f"{DEPLOYMENTS}/d/status", {"status": {"replicas": 3}})
    kept = await api.merge(f"{DEPLOYMENTS}/d", {"spec": {"replicas": 2}, "status": {"replicas": 9}})
    assert (kept["spec"]["replicas"], kept["status"]["replicas"]) == (2, 3)
    put = await api(f"PUT {DEPLOYMENTS}/d", {**kept, "status": {"replicas": 9}})
    assert put == kept
    both = {"metadata": {"labels": {"q": "1"}}, "spec": {"replicas": 9}, "status": {"replicas": 4}}
    answer = await api.merge(f"{DEPLOYMENTS}/d/status", both)
    assert (answer["spec"]["replicas"], answer["status"]["replicas"]) == (2, 4)
    assert "labels" not in answer["metadata"]
    assert answer == await api(f"GET {DEPLOYMENTS}/d") == await api(f"GET {DEPLOYMENTS}/d/status")


async def test_retain_keys_of_a_strategy(api: Any) -> None:
    await api(f"POST {DEPLOYMENTS}", deployment())
    refused = await api(f"PATCH {DEPLOYMENTS}/d", {"spec": {"strategy": {"type": "Recreate"}}}, code=422, content_type=STRATEGIC)
    assert refused["details"]["causes"] == [
        {
            "reason": "FieldValueForbidden",
            "message": "Forbidden: may not be specified when strategy `type` is 'Recreate'",
            "field": "spec.strategy.rollingUpdate",
        }
    ]
    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    done = await api(f"PATCH {DEPLOYMENTS}/d", patch, content_type=STRATEGIC)
    assert done["spec"]["strategy"] == {"type": "Recreate"}


async def test_retain_keys_of_a_volume(api: Any) -> None:
    body = deployment()
    body["spec"]["template"]["spec"]["volumes"] = [{"name": "v", "emptyDir": {}}]
    await api(f"POST {DEPLOYMENTS}", body)
    volume = {"$retainKeys": ["name", "configMap"], "name": "v", "configMap": {"name": "c"}}
    patch = {"spec": {"template": {"spec": {"volumes": [volume]}}}}
    done = await api(f"PATCH {DEPLOYMENTS}/d", patch, content_type=STRATEGIC)
    assert done["spec"]["template"]["spec"]["volumes"] == [{"name": "v", "configMap": {"name": "c", "defaultMode": 420}}]
    assert "$" not in str(done)
