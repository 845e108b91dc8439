from __future__ import annotations

from typing import Any

import pytest

from setpoint.kit.clock import rfc3339, rfc3339_micro

NAME = "node-lifecycle-controller"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


class Nodes:
    """Nodes by name; those that live renew their lease when time passes."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.alive: set[str] = set()

    async def add(self, name: str, ready: str = "True", **spec: Any) -> None:
        await self.world.call("POST", "/api/v1/nodes", {"metadata": {"name": name}, "spec": spec})
        await self.world.call("POST", LEASES, {"metadata": {"name": name, "namespace": "kube-node-lease"}, "spec": {}})
        await self.say(name, ready)
        self.alive.add(name)

    async def say(self, name: str, ready: str) -> None:
        now = rfc3339(self.world.clock.now())
        condition = {"type": "Ready", "status": ready, "reason": "x", "lastHeartbeatTime": now, "lastTransitionTime": now}
        await self.world.merge(f"/api/v1/nodes/{name}/status", {"status": {"conditions": [condition]}})

    async def run(self, seconds: int) -> None:
        for _ in range(0, seconds, 5):
            for name in self.alive:
                spec = {"renewTime": rfc3339_micro(self.world.clock.now()), "holderIdentity": name, "leaseDurationSeconds": 40}
                await self.world.merge(f"{LEASES}/{name}", {"spec": spec})
            await self.world.clock.advance(5)

    async def taints(self, name: str) -> list[str]:
        node = await self.world.get(f"/api/v1/nodes/{name}")
        return [f"{each['key']}:{each['effect']}".removeprefix("node.kubernetes.io/") for each in node["spec"].get("taints", ())]

    async def ready(self, name: str) -> dict[str, Any]:
        node = await self.world.get(f"/api/v1/nodes/{name}")
        return next(each for each in node["status"]["conditions"] if each["type"] == "Ready")


@pytest.fixture
async def nodes(world: Any) -> Nodes:
    await world.namespace("kube-node-lease")
    await world.namespace("ns", account=True)
    return Nodes(world)


async def pod_on(world: Any, node: str) -> None:
    spec = {"nodeName": node, "containers": [{"name": "c", "image": "i"}]}
    await world.call("POST", "/api/v1/namespaces/ns/pods", {"metadata": {"name": "p"}, "spec": spec})
    await world.merge("/api/v1/namespaces/ns/pods/p/status", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}})


async def test_a_silent_node_is_unknown_after_its_grace_and_tainted_and_its_pods_are_not_ready(nodes: Nodes) -> None:
    for name in ("n1", "n2", "n3"):
        await nodes.add(name)
    await pod_on(nodes.world, "n1")
    await nodes.world.run(NAME)
    await nodes.run(30)
    nodes.alive.remove("n1")
    await nodes.run(35)
    assert (await nodes.ready("n1"))["status"] == "True"
    await nodes.run(15)
    ready = await nodes.ready("n1")
    assert (ready["status"], ready["reason"], ready["message"]) == (
        "Unknown",
        "NodeStatusUnknown",
        "Kubelet stopped posting node status.",
    )
    assert sorted(await nodes.taints("n1")) == ["unreachable:NoExecute", "unreachable:NoSchedule"]
    assert await nodes.taints("n2") == []
    pod = await nodes.world.get("/api/v1/namespaces/ns/pods/p")
    assert {each["type"]: each["status"] for each in pod["status"]["conditions"]}["Ready"] == "False"


async def test_a_node_that_comes_back_loses_its_taints(nodes: Nodes) -> None:
    for name in ("n1", "n2", "n3"):
        await nodes.add(name)
    await nodes.world.run(NAME)
    nodes.alive.remove("n1")
    await nodes.run(60)
    assert await nodes.taints("n1") != []
    nodes.alive.add("n1")
    await nodes.say("n1", "True")
    await nodes.run(10)
    assert await nodes.taints("n1") == []


async def test_a_node_that_says_it_is_not_ready_is_tainted_so(nodes: Nodes) -> None:
    await nodes.add("n1", "False")
    await nodes.add("n2")
    await nodes.world.run(NAME)
    await nodes.run(10)
    assert sorted(await nodes.taints("n1")) == ["not-ready:NoExecute", "not-ready:NoSchedule"]


async def test_when_all_nodes_are_silent_nobody_is_evicted(nodes: Nodes) -> None:
    await nodes.add("n1")
    await nodes.add("n2")
    await nodes.world.run(NAME)
    nodes.alive.clear()
    await nodes.run(120)
    assert (await nodes.ready("n1"))["status"] == "Unknown"
    assert await nodes.taints("n1") == ["unreachable:NoSchedule"]


async def test_the_end_of_a_node_is_told_of_that_very_node(nodes: Nodes) -> None:
    await nodes.world.namespace("default")
    await nodes.add("n1")
    await nodes.world.run(NAME)
    await nodes.run(10)
    uid = (await nodes.world.get("/api/v1/nodes/n1"))["metadata"]["uid"]
    await nodes.world.call("DELETE", "/api/v1/nodes/n1")
    nodes.alive.clear()
    await nodes.run(15)
    events = (await nodes.world.get("/api/v1/namespaces/default/events"))["items"]
    assert [(each["reason"], each["message"], each["involvedObject"]["uid"]) for each in events] == [
        ("RegisteredNode", "Node n1 event: Registered Node n1 in Controller", uid),
        ("RemovingNode", "Node n1 event: Removing Node n1 from Controller", uid),
    ]


async def test_cordoning_taints(nodes: Nodes) -> None:
    await nodes.add("n1")
    await nodes.world.run(NAME)
    await nodes.world.merge("/api/v1/nodes/n1", {"spec": {"unschedulable": True}})
    await nodes.world.clock.advance(1)
    assert await nodes.taints("n1") == ["unschedulable:NoSchedule"]


async def test_a_calm_cluster_writes_nothing(nodes: Nodes) -> None:
    await nodes.add("n1")
    await nodes.add("n2")
    await nodes.world.run(NAME)
    await nodes.run(10)
    before = (await nodes.world.get("/api/v1/nodes/n1"))["metadata"]["resourceVersion"]
    await nodes.run(300)
    assert (await nodes.world.get("/api/v1/nodes/n1"))["metadata"]["resourceVersion"] == before
