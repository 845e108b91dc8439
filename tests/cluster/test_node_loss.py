"""A node that falls silent, with Kubernetes' default timings: 40 seconds until it is NotReady, 300 until its pods go."""

from __future__ import annotations

from setpoint.api.types import apps_v1, core_v1
from setpoint.testing.chaos import deployment
from setpoint.testing.cluster import VirtualCluster

NAMESPACE = "default"


async def ready_condition(cluster: VirtualCluster, name: str) -> core_v1.NodeCondition:
    node = await cluster.client.get(core_v1.NODES, name)
    return next(condition for condition in node.status.conditions if condition.type == "Ready")


async def pods_on(cluster: VirtualCluster, name: str) -> list[core_v1.Pod]:
    found = (await cluster.client.list(core_v1.PODS, NAMESPACE)).items
    return [pod for pod in found if pod.spec.node_name == name]


async def test_pods_of_a_lost_node_are_replaced_after_their_toleration_and_end_when_it_returns() -> None:
    async with VirtualCluster(nodes=3) as cluster:
        await cluster.client.create(apps_v1.DEPLOYMENTS, deployment("web", 6), NAMESPACE)
        await cluster.settled()
        lost = await pods_on(cluster, "node-2")
        assert len(lost) == 2
        await cluster.advance(30)
        cluster.nodes.freeze("node-2")
        start = cluster.clock.elapsed

        async def unknown() -> bool:
            """the node is not ready"""
            return (await ready_condition(cluster, "node-2")).status == "Unknown"

        await cluster.until(unknown, limit=100)
        silent = cluster.clock.elapsed - start
        assert 30 <= silent <= 46, "40 s after its last renewal, seen within the 5 s of the monitor's period"
        assert (await ready_condition(cluster, "node-2")).reason == "NodeStatusUnknown"
        await cluster.advance(10)
        node = await cluster.client.get(core_v1.NODES, "node-2")
        assert {(taint.key, taint.effect) for taint in node.spec.taints} == {
            ("node.kubernetes.io/unreachable", "NoSchedule"),
            ("node.kubernetes.io/unreachable", "NoExecute"),
        }
        assert [pod.metadata.deletion_timestamp for pod in await pods_on(cluster, "node-2")] == [None, None]

        async def evicted() -> bool:
            """its pods are marked for deletion"""
            return all(pod.metadata.deletion_timestamp for pod in await pods_on(cluster, "node-2"))

        await cluster.until(evicted, limit=400)
        assert 295 <= cluster.clock.elapsed - start - silent <= 320
        assert {pod.metadata.name for pod in await pods_on(cluster, "node-2")} == {pod.metadata.name for pod in lost}
        await cluster.settled()
        web = await cluster.client.get(apps_v1.DEPLOYMENTS, "web", NAMESPACE)
        assert (web.status.available_replicas, web.status.terminating_replicas) == (6, 2)

        cluster.nodes.start("node-2")
        await cluster.advance(20)
        await cluster.settled()
        assert await pods_on(cluster, "node-2") == []
        node = await cluster.client.get(core_v1.NODES, "node-2")
        assert (node.spec.taints, (await ready_condition(cluster, "node-2")).status) == ((), "True")


async def test_a_node_that_returns_in_time_keeps_its_pods() -> None:
    async with VirtualCluster(nodes=2) as cluster:
        await cluster.client.create(apps_v1.DEPLOYMENTS, deployment("web", 4), NAMESPACE)
        await cluster.settled()
        before = {pod.metadata.uid for pod in await pods_on(cluster, "node-1")}
        cluster.nodes.freeze("node-1")
        await cluster.advance(200)
        assert (await ready_condition(cluster, "node-1")).status == "Unknown"
        cluster.nodes.start("node-1")
        await cluster.advance(400)
        assert {pod.metadata.uid for pod in await pods_on(cluster, "node-1")} == before
        web = await cluster.client.get(apps_v1.DEPLOYMENTS, "web", NAMESPACE)
        assert web.status.available_replicas == 4


async def test_a_power_cut_restarts_containers() -> None:
    async with VirtualCluster(nodes=1) as cluster:
        await cluster.client.create(apps_v1.DEPLOYMENTS, deployment("web", 2), NAMESPACE)
        await cluster.settled()
        cluster.nodes.kill("node-1")
        await cluster.advance(20)
        cluster.nodes.start("node-1")
        await cluster.advance(10)
        pods = await pods_on(cluster, "node-1")
        assert [pod.status.container_statuses[0].restart_count for pod in pods] == [1, 1]
        web = await cluster.client.get(apps_v1.DEPLOYMENTS, "web", NAMESPACE)
        assert web.status.available_replicas == 2
