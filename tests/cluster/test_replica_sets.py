"""Adoption and release, and which pods go first."""

from __future__ import annotations

from typing import Any

from setpoint.api.types import apps_v1, core_v1
from setpoint.controllers.owned_pods.ranking import DELETION_COST
from setpoint.testing.cluster import CONTROLLERS, VirtualCluster

NAMESPACE = "default"
LABELS = {"app": "x"}
SPEC = {"containers": [{"name": "c", "image": "i"}]}


def replica_set(replicas: int) -> dict[str, Any]:
    template = {"metadata": {"labels": LABELS}, "spec": SPEC}
    return {"metadata": {"name": "r"}, "spec": {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": template}}


def bare(name: str, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": LABELS, **metadata}, "spec": SPEC}


async def pods(cluster: VirtualCluster) -> dict[str, core_v1.Pod]:
    return {pod.metadata.name: pod for pod in (await cluster.client.list(core_v1.PODS, NAMESPACE)).items}


def owners(pod: core_v1.Pod) -> list[str]:
    return [ref.name for ref in pod.metadata.owner_references]


async def test_adoption_release_and_adoption_again() -> None:
    async with VirtualCluster(nodes=0, parts=(CONTROLLERS,)) as cluster:
        client = cluster.client
        await cluster.settled()
        await client.create(core_v1.PODS, bare("bare"), NAMESPACE)
        boss = await client.create(core_v1.CONFIGMAPS, {"metadata": {"name": "boss"}}, NAMESPACE)
        ref = {"apiVersion": "v1", "kind": "ConfigMap", "name": "boss", "uid": boss.metadata.uid, "controller": True}
        await client.create(core_v1.PODS, bare("taken", ownerReferences=[ref]), NAMESPACE)
        await client.create(core_v1.PODS, bare("dying", finalizers=["x.example/hold"]), NAMESPACE)
        await client.delete(core_v1.PODS, "dying", NAMESPACE)
        await client.create(apps_v1.REPLICASETS, replica_set(2), NAMESPACE)
        await cluster.settled()
        found = await pods(cluster)
        assert owners(found["bare"]) == ["r"]
        assert (owners(found["taken"]), owners(found["dying"])) == (["boss"], [])
        made = found.keys() - {"bare", "taken", "dying"}
        assert len(made) == 1

        await client.patch(core_v1.PODS, "bare", {"metadata": {"labels": {"app": "y"}}}, NAMESPACE)
        await cluster.settled()
        found = await pods(cluster)
        assert owners(found["bare"]) == []
        assert len([pod for pod in found.values() if owners(pod) == ["r"]]) == 2

        await client.patch(core_v1.PODS, "bare", {"metadata": {"labels": LABELS}}, NAMESPACE)
        await cluster.settled()
        living = [pod for pod in (await pods(cluster)).values() if owners(pod) == ["r"] and not pod.metadata.deletion_timestamp]
        assert len(living) == 2


async def test_the_cheapest_pod_goes_first() -> None:
    async with VirtualCluster() as cluster:
        client = cluster.client
        await client.create(apps_v1.REPLICASETS, replica_set(3), NAMESPACE)
        await cluster.settled()
        names = sorted(await pods(cluster))
        for name, cost in zip(names, ("5", "-3", "10"), strict=True):
            await client.patch(core_v1.PODS, name, {"metadata": {"annotations": {DELETION_COST: cost}}}, NAMESPACE)
        await cluster.settled()
        await client.patch(apps_v1.REPLICASETS, "r", {"spec": {"replicas": 2}}, NAMESPACE)
        await cluster.settled()
        assert set(await pods(cluster)) == {names[0], names[2]}


async def test_a_deleted_or_failed_pod_is_replaced() -> None:
    async with VirtualCluster() as cluster:
        client = cluster.client
        await client.create(apps_v1.REPLICASETS, replica_set(2), NAMESPACE)
        await cluster.settled()
        first, second = sorted(await pods(cluster))
        await client.delete(core_v1.PODS, first, NAMESPACE)
        await client.patch(core_v1.PODS, second, {"status": {"phase": "Failed"}}, NAMESPACE, subresource="status")
        await cluster.settled()
        found = await pods(cluster)
        assert first not in found
        assert len(found) == 3, "the failed one stays for whoever wants to know why"
        status = (await client.get(apps_v1.REPLICASETS, "r", NAMESPACE)).status
        assert (status.replicas, status.ready_replicas) == (2, 2)


async def test_orphaned_pods_are_adopted_by_a_new_replica_set() -> None:
    async with VirtualCluster() as cluster:
        client = cluster.client
        await client.create(apps_v1.REPLICASETS, replica_set(2), NAMESPACE)
        await cluster.settled()
        before = set(await pods(cluster))
        await client.delete(apps_v1.REPLICASETS, "r", NAMESPACE, propagation="Orphan")
        await cluster.settled()
        assert [owners(pod) for pod in (await pods(cluster)).values()] == [[], []]
        new = await client.create(apps_v1.REPLICASETS, replica_set(2), NAMESPACE)
        await cluster.settled()
        found = await pods(cluster)
        assert set(found) == before
        assert {pod.metadata.owner_references[0].uid for pod in found.values()} == {new.metadata.uid}
