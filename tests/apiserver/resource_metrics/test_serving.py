"""`metrics.k8s.io` on a whole API server whose nodes' summaries are made up."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import orjson
import pytest

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import ADMIN
from setpoint.apiserver.request import Request
from setpoint.app.assembly import make_pipeline
from setpoint.client.client import Client
from setpoint.client.transports.in_process import InProcessTransport
from setpoint.kit.clock import VirtualClock, rfc3339
from setpoint.storage.backends.memory import memory_store

ROOT = "/apis/metrics.k8s.io/v1beta1"


class Machines:
    """Nodes that burn a core each, and pods that burn half a core."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.begun = clock.now()
        self.asked = 0
        self.silent: set[str] = set()
        self.pods: dict[tuple[str, str], float] = {}

    async def summary(self, node: Mapping[str, Any]) -> bytes:
        name = node["metadata"]["name"]
        if name in self.silent:
            raise OSError("no route")
        self.asked += 1
        pods = [
            {
                "podRef": {"namespace": "n", "name": pod},
                "containers": [
                    {
                        "name": "c",
                        "startTime": rfc3339(started),
                        "cpu": {"usageCoreNanoSeconds": int((self.clock.now() - started) * 5e8)},
                        "memory": {"workingSetBytes": 3 << 20},
                    }
                ],
            }
            for (where, pod), started in self.pods.items()
            if where == name
        ]
        used = {"usageCoreNanoSeconds": int((self.clock.now() - self.begun) * 1e9)}
        return orjson.dumps({"node": {"cpu": used, "memory": {"workingSetBytes": 1 << 30}}, "pods": pods})


class World:
    def __init__(self, clock: VirtualClock, machines: Machines, client: Client) -> None:
        self.clock = clock
        self.machines = machines
        self.client = client

    async def get(self, path: str, **query: str) -> Any:
        """An answer, while time passes."""
        import asyncio

        asked = asyncio.ensure_future(self.client.raw("GET", path, query=query))
        await self.clock.advance(1.5)
        return await asked

    async def pod(self, name: str, **labels: str) -> None:
        container = {"name": "c", "image": "i"}
        spec = {"containers": [container], "nodeName": "a", "automountServiceAccountToken": False}
        body = {"metadata": {"name": name, "labels": labels}, "spec": spec}
        await self.client.raw("POST", "/api/v1/namespaces/n/pods", body=body)
        self.machines.pods["a", name] = self.clock.now()


@pytest.fixture
async def world() -> AsyncIterator[World]:
    clock = VirtualClock()
    store = memory_store(clock)
    await store.open()
    machines = Machines(clock)
    pipeline = make_pipeline(store, clock, address=lambda: "127.0.0.1:6443", usage=machines.summary)
    client = Client(InProcessTransport(pipeline, Request, ADMIN), user_agent="tester/1", clock=clock)
    for name in ("a", "b"):
        await client.raw("POST", "/api/v1/nodes", body={"metadata": {"name": name, "labels": {"is": name}}})
    await client.raw("POST", "/api/v1/namespaces", body={"metadata": {"name": "n"}})
    await client.raw("POST", "/api/v1/namespaces/n/serviceaccounts", body={"metadata": {"name": "default"}})
    yield World(clock, machines, client)
    await store.close()


async def test_discovery_lists_it(world: World) -> None:
    group = await world.get("/apis/metrics.k8s.io")
    assert group["preferredVersion"]["groupVersion"] == "metrics.k8s.io/v1beta1"
    rows = (await world.get(ROOT))["resources"]
    assert [(row["name"], row["kind"], row["namespaced"]) for row in rows] == [
        ("nodes", "NodeMetrics", False),
        ("pods", "PodMetrics", True),
    ]
    groups = await world.client.discovery()
    assert groups[-1]["metadata"]["name"] == "metrics.k8s.io"


async def test_without_nodes_of_ours_there_is_none() -> None:
    clock = VirtualClock()
    store = memory_store(clock)
    await store.open()
    pipeline = make_pipeline(store, clock, address=lambda: "")
    client = Client(InProcessTransport(pipeline, Request, ADMIN), user_agent="tester/1", clock=clock)
    for path in (ROOT, f"{ROOT}/nodes", "/apis/metrics.k8s.io"):
        with pytest.raises(StatusError) as refused:
            await client.raw("GET", path)
        assert refused.value.code == 404
    await store.close()


async def test_nodes(world: World) -> None:
    found = await world.get(f"{ROOT}/nodes")
    assert found["kind"] == "NodeMetricsList"
    assert [(item["metadata"]["name"], item["usage"]) for item in found["items"]] == [
        ("a", {"cpu": "1000000000n", "memory": "1048576Ki"}),
        ("b", {"cpu": "1000000000n", "memory": "1048576Ki"}),
    ]
    one = await world.get(f"{ROOT}/nodes/b")
    assert (one["kind"], one["metadata"]["labels"]) == ("NodeMetrics", {"is": "b"})
    assert len((await world.get(f"{ROOT}/nodes", labelSelector="is=a"))["items"]) == 1
    assert len((await world.get(f"{ROOT}/nodes", fieldSelector="metadata.name=a"))["items"]) == 1


async def test_a_node_that_does_not_answer_is_left_out(world: World) -> None:
    world.machines.silent.add("a")
    assert [item["metadata"]["name"] for item in (await world.get(f"{ROOT}/nodes"))["items"]] == ["b"]
    with pytest.raises(StatusError, match=r'nodemetrics\.metrics\.k8s\.io "a" not found'):
        await world.get(f"{ROOT}/nodes/a")


async def test_pods_new_ones_included(world: World) -> None:
    await world.get(f"{ROOT}/nodes")
    await world.clock.advance(0.5)  # starts are told in whole seconds
    await world.pod("p", app="x")
    await world.clock.advance(4)
    found = await world.get(f"{ROOT}/namespaces/n/pods", labelSelector="app=x")
    (item,) = found["items"]
    assert item["containers"] == [{"name": "c", "usage": {"cpu": "500000000n", "memory": "3072Ki"}}]
    assert item["window"] == "4.000s"
    assert (await world.get(f"{ROOT}/pods"))["items"] == found["items"]
    assert (await world.get(f"{ROOT}/namespaces/n/pods/p"))["kind"] == "PodMetrics"
    with pytest.raises(StatusError, match=r'podmetrics\.metrics\.k8s\.io "n/q" not found'):
        await world.get(f"{ROOT}/namespaces/n/pods/q")


async def test_nodes_are_asked_when_somebody_asks(world: World) -> None:
    await world.get(f"{ROOT}/nodes")
    assert world.machines.asked == 4  # twice, for a difference
    await world.get(f"{ROOT}/nodes")
    assert world.machines.asked == 4  # as good as now
    await world.clock.advance(30)
    assert world.machines.asked == 4
    await world.get(f"{ROOT}/pods")
    assert world.machines.asked == 6
    with pytest.raises(StatusError) as refused:
        await world.client.raw("DELETE", f"{ROOT}/nodes/a")
    assert refused.value.code == 405
