"""What is declared again changes nothing."""

from __future__ import annotations

from setpoint.api.types import apps_v1, core_v1
from setpoint.testing.chaos import deployment
from setpoint.testing.cluster import VirtualCluster

NAMESPACE = "default"


async def test_the_same_manifest_applied_a_hundred_times() -> None:
    async with VirtualCluster() as cluster:
        client = cluster.client
        versions = set()
        for number in range(100):
            await client.apply(apps_v1.DEPLOYMENTS, deployment("web", 3), NAMESPACE)
            await cluster.settled() if number < 2 else await cluster.advance(0.5)
            web = await client.get(apps_v1.DEPLOYMENTS, "web", NAMESPACE)
            versions.add(web.metadata.resource_version)
        assert len(versions) == 1
        assert web.metadata.generation == 1
        assert web.metadata.annotations["deployment.kubernetes.io/revision"] == "1"
        assert len((await client.list(core_v1.PODS, NAMESPACE)).items) == 3
        assert len((await client.list(apps_v1.REPLICASETS, NAMESPACE)).items) == 1


async def test_spec_is_not_written_through_status_nor_status_through_the_object() -> None:
    async with VirtualCluster() as cluster:
        client = cluster.client
        await client.create(apps_v1.DEPLOYMENTS, deployment("web", 2), NAMESPACE)
        await cluster.settled()
        before = await client.get(apps_v1.DEPLOYMENTS, "web", NAMESPACE)
        await client.patch(apps_v1.DEPLOYMENTS, "web", {"spec": {"replicas": 7}}, NAMESPACE, subresource="status")
        await client.patch(apps_v1.DEPLOYMENTS, "web", {"status": {"replicas": 7}}, NAMESPACE)
        assert await client.get(apps_v1.DEPLOYMENTS, "web", NAMESPACE) == before
