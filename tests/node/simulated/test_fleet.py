from __future__ import annotations

from setpoint.api.types import apps_v1, coordination_v1, core_v1
from setpoint.node.simulated import Beats, NodeSpec, Stages
from setpoint.testing.chaos import deployment
from setpoint.testing.cluster import NODES, VirtualCluster

LEASES = "kube-node-lease"


async def renewals(cluster: VirtualCluster) -> dict[str, str]:
    found = (await cluster.client.list(coordination_v1.LEASES, LEASES)).items
    return {lease.metadata.name: lease.spec.renew_time or "" for lease in found}


async def test_many_nodes_register_and_beat_at_different_moments() -> None:
    async with VirtualCluster(nodes=100, parts=(NODES,)) as cluster:
        nodes = (await cluster.client.list(core_v1.NODES)).items
        assert len(nodes) == 100
        assert (
            len({address.address for node in nodes for address in node.status.addresses if address.type == "InternalIP"}) == 100
        )
        await cluster.advance(30)
        before = await renewals(cluster)
        await cluster.advance(10)
        after = await renewals(cluster)
        assert len(before) == 100
        assert all(after[name] > before[name] for name in before), "each beats every ten seconds"
        assert len(set(after.values())) > 50, "not all at once"


async def test_the_first_lease_comes_with_the_node() -> None:
    async with VirtualCluster(nodes=5, parts=(NODES,)) as cluster:
        await cluster.advance(1)
        assert len(await renewals(cluster)) == 5


async def test_a_node_has_the_size_labels_and_taints_asked_for() -> None:
    spec = NodeSpec(
        "big", cpu="64", memory="256Gi", pods=500, labels={"zone": "a"}, taints=({"key": "k", "effect": "NoSchedule"},)
    )
    async with VirtualCluster(nodes=[spec], parts=(NODES,)) as cluster:
        node = await cluster.client.get(core_v1.NODES, "big")
        assert (node.status.allocatable["cpu"], node.status.allocatable["memory"], node.status.allocatable["pods"]) == (
            "64",
            "256Gi",
            "500",
        )
        assert node.metadata.labels["zone"] == "a"
        assert ("k", "NoSchedule") in {(taint.key, taint.effect) for taint in node.spec.taints}


async def test_pods_go_through_their_stages_in_time() -> None:
    async with VirtualCluster(nodes=1, stages=Stages(create=3, ready=4, stop=5)) as cluster:
        client = cluster.client
        await client.create(apps_v1.DEPLOYMENTS, deployment("web", 1), "default")
        seen: dict[str, float] = {}
        start = cluster.clock.elapsed
        for _ in range(100):
            await cluster.advance(0.1)
            for pod in (await client.list(core_v1.PODS, "default")).items:
                seen.setdefault(stage(pod), cluster.clock.elapsed - start)
        assert list(seen) == ["waiting", "running", "ready"]
        assert 2.9 <= seen["running"] - seen["waiting"] <= 3.2
        assert 3.9 <= seen["ready"] - seen["running"] <= 4.2


async def test_to_look_at_a_pod_does_not_prolong_its_life() -> None:
    async with VirtualCluster(nodes=1, stages=Stages(create=0, complete=10)) as cluster:
        client = cluster.client
        spec = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
        await client.create(core_v1.PODS, {"metadata": {"name": "p"}, "spec": spec}, "default")
        await cluster.advance(6)
        added = {"spec": {"ephemeralContainers": [{"name": "d", "image": "i", "targetContainerName": "c"}]}}
        await client.patch(core_v1.PODS, "p", added, "default", kind="strategic", subresource="ephemeralcontainers")
        await cluster.advance(1)
        pod = await client.get(core_v1.PODS, "p", "default")
        assert pod.status.ephemeral_container_statuses[0].state.running is not None
        await cluster.advance(5)
        assert (await client.get(core_v1.PODS, "p", "default")).status.phase == "Succeeded"


def stage(pod: core_v1.Pod) -> str:
    if any(condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions):
        return "ready"
    statuses = pod.status.container_statuses
    return "running" if statuses and statuses[0].state.running is not None else "waiting"


async def test_a_deleted_node_registers_anew() -> None:
    async with VirtualCluster(nodes=1, parts=(NODES,)) as cluster:
        before = await cluster.client.get(core_v1.NODES, "node-1")
        await cluster.client.delete(core_v1.NODES, "node-1")
        await cluster.advance(1)
        assert (await cluster.client.get(core_v1.NODES, "node-1")).metadata.uid != before.metadata.uid


async def test_pods_on_a_node_have_addresses_of_their_own() -> None:
    async with VirtualCluster(nodes=1) as cluster:
        await cluster.client.create(apps_v1.DEPLOYMENTS, deployment("web", 20), "default")
        await cluster.settled()
        pods = (await cluster.client.list(core_v1.PODS, "default")).items
        assert len({pod.status.pod_ip for pod in pods}) == 20


async def test_with_moments_many_nodes_beat_at_a_few() -> None:
    async with VirtualCluster(nodes=60, parts=(NODES,), beats=Beats(moments=4)) as cluster:
        await cluster.advance(30)
        assert len(set((await renewals(cluster)).values())) <= 4


async def test_reports_are_spread_as_heartbeats_are() -> None:
    async with VirtualCluster(nodes=20, parts=(NODES,)) as cluster:
        await cluster.advance(310)
        nodes = (await cluster.client.list(core_v1.NODES)).items
        assert len({node.status.conditions[-1].last_heartbeat_time for node in nodes}) > 10
        assert all(len(node.status.conditions) == 4 for node in nodes)
