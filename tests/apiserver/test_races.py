"""Writes that meet other writes, and writes that must leave no trace in anything but their own object."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from setpoint.apiserver.pipeline import Pipeline
from setpoint.registry.service.allocation import ServiceAllocator
from setpoint.registry.service.port_allocator import PortAllocator
from setpoint.registry.table import RESOURCES

from .conftest import Api

APPLY: dict[str, Any] = {"content_type": "application/apply-patch+yaml"}
STRATEGIC: dict[str, Any] = {"content_type": "application/strategic-merge-patch+json"}
DEPLOYMENTS = "/apis/apps/v1/namespaces/d/deployments"


def deployment(name: str, **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template, **spec}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def interrupt(api: Api, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """Let another write of `key` come between the next update and its commit."""
    update = api.store.update

    async def interrupted(name: str, *arguments: Any, **options: Any) -> Any:
        if name == key:
            monkeypatch.undo()
            obj = orjson.loads((await api.store.get(key)).value)
            plural, namespace, name = key.split("/")
            path = f"{DEPLOYMENTS if plural.startswith('deployments') else f'/api/v1/namespaces/{namespace}/{plural}'}/{name}"
            await api.merge(path, {"metadata": {"labels": {"between": obj["metadata"]["resourceVersion"]}}})
        return await update(name if name != key.rpartition("/")[2] else key, *arguments, **options)

    monkeypatch.setattr(api.store, "update", interrupted)


async def test_an_applied_object_leaves_nothing_in_the_next(api: Api) -> None:
    await api(f"PATCH {DEPLOYMENTS}/rolling?fieldManager=m", deployment("rolling"), **APPLY)
    recreated = await api(
        f"PATCH {DEPLOYMENTS}/other?fieldManager=m", deployment("other", strategy={"type": "Recreate"}), **APPLY
    )
    assert recreated["spec"]["strategy"] == {"type": "Recreate"}
    posted = await api(f"POST {DEPLOYMENTS}", deployment("posted"))
    (entry,) = posted["metadata"]["managedFields"]
    assert "f:type" in entry["fieldsV1"]["f:spec"]["f:strategy"]


async def test_an_apply_that_is_tried_again_owns_what_it_configures_only(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    await api(f"POST {DEPLOYMENTS}", deployment("web"))
    interrupt(api, monkeypatch, "deployments.apps/d/web")
    wanted = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}
    wanted["spec"] = {"template": {"spec": {"containers": [{"name": "new", "image": "i"}]}}}
    applied = await api(f"PATCH {DEPLOYMENTS}/web?fieldManager=m&force=true", wanted, **APPLY)
    assert applied["metadata"]["labels"]
    entry = next(each for each in applied["metadata"]["managedFields"] if each["operation"] == "Apply")
    owned = entry["fieldsV1"]["f:spec"]["f:template"]["f:spec"]["f:containers"]['k:{"name":"new"}']
    assert set(owned) == {".", "f:name", "f:image"}


async def test_a_put_that_is_tried_again_starts_from_its_body(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first try allocated and gave back is not asked for by the second."""
    pipeline = Pipeline(
        ServiceAllocator(api.store).hook_into(RESOURCES), api.store, api.clock, schemas=api.pipeline.bodies._schemas
    )
    api.pipeline = pipeline
    service = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}
    await api("POST /api/v1/namespaces/d/services", service)
    asked: list[int] = []
    hold = PortAllocator._asked_port

    async def noted(self: Any, holding: Any, path: str, number: int) -> None:
        asked.append(number)
        await hold(self, holding, path, number)

    interrupt(api, monkeypatch, "services/d/s")
    with pytest.MonkeyPatch.context() as watched:
        watched.setattr(PortAllocator, "_asked_port", noted)
        put = await api("PUT /api/v1/namespaces/d/services/s", {**service, "spec": {"type": "NodePort", "ports": [{"port": 80}]}})
    assert put["spec"]["ports"][0]["nodePort"]
    assert asked == []


async def test_what_a_crash_left_allocated_is_given_back(api: Api) -> None:
    allocator = ServiceAllocator(api.store)
    api.pipeline = Pipeline(allocator.hook_into(RESOURCES), api.store, api.clock, schemas=api.pipeline.bodies._schemas)
    body = {"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30001}]}}
    service = await api("POST /api/v1/namespaces/d/services", body)
    assert await allocator.repair() == 0
    await api.store.delete("services/d/s")  # and no more: the server died
    assert await allocator.repair() == 2
    assert await api.store.head(f"ipaddresses.networking.k8s.io/{service['spec']['clusterIP']}") is None
    assert await api.store.head("servicenodeports/30001") is None


async def test_a_cancelled_write_that_happens_keeps_what_it_took(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    api.pipeline = Pipeline(
        ServiceAllocator(api.store).hook_into(RESOURCES), api.store, api.clock, schemas=api.pipeline.bodies._schemas
    )
    create = api.store.create

    async def slow(key: str, *arguments: Any, **options: Any) -> Any:
        record = await create(key, *arguments, **options)
        if key == "services/d/s":
            raise asyncio.CancelledError
        return record

    monkeypatch.setattr(api.store, "create", slow)
    with pytest.raises(asyncio.CancelledError):
        await api("POST /api/v1/namespaces/d/services", {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}})
    service = await api("GET /api/v1/namespaces/d/services/s")
    assert await api.store.head(f"ipaddresses.networking.k8s.io/{service['spec']['clusterIP']}") is not None


async def test_evictions_at_one_time_take_one_disruption_each(api: Api) -> None:
    labels = {"app": "web"}
    for name in ("a", "b", "c"):
        spec = {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}
        await api("POST /api/v1/namespaces/d/pods", {"metadata": {"name": name, "labels": labels}, "spec": spec})
        ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        await api.merge(f"/api/v1/namespaces/d/pods/{name}/status", {"status": ready})
    budgets = "/apis/policy/v1/namespaces/d/poddisruptionbudgets"
    await api(f"POST {budgets}", {"metadata": {"name": "two"}, "spec": {"selector": {"matchLabels": labels}, "minAvailable": 1}})
    status = {"disruptionsAllowed": 2, "currentHealthy": 3, "desiredHealthy": 1, "expectedPods": 3, "observedGeneration": 1}
    await api.merge(f"{budgets}/two/status", {"status": status})

    async def evict(name: str, query: str = "") -> int:
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
        return (await api.respond(f"POST /api/v1/namespaces/d/pods/{name}/eviction{query}", eviction)).status

    assert await evict("a", "?dryRun=All") == 201
    assert sorted(await asyncio.gather(evict("a"), evict("b"), evict("c"))) == [201, 201, 429]


async def test_a_patch_that_drops_node_ports_gives_them_back(api: Api) -> None:
    api.pipeline = Pipeline(
        ServiceAllocator(api.store).hook_into(RESOURCES), api.store, api.clock, schemas=api.pipeline.bodies._schemas
    )
    body = {"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30001}]}}
    await api("POST /api/v1/namespaces/d/services", body)
    patched = await api("PATCH /api/v1/namespaces/d/services/s", {"spec": {"type": "ClusterIP"}}, **STRATEGIC)
    assert "nodePort" not in patched["spec"]["ports"][0]
    assert await api.store.head("servicenodeports/30001") is None
