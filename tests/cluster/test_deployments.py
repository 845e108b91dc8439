"""What the Deployment controller does to a server: versions, collisions, refusals, events."""

from __future__ import annotations

from typing import Any

from setpoint.api.types import apps_v1, core_v1
from setpoint.client.events import EVENTS
from setpoint.controllers.deployment import revisions
from setpoint.testing.chaos import deployment
from setpoint.testing.cluster import CONTROLLERS, VirtualCluster

NAMESPACE = "default"


async def replica_sets(cluster: VirtualCluster) -> dict[str, apps_v1.ReplicaSet]:
    found = (await cluster.client.list(apps_v1.REPLICASETS, NAMESPACE)).items
    return {each.metadata.name: each for each in found}


async def events(cluster: VirtualCluster, kind: str) -> list[tuple[str, str]]:
    found = (await cluster.client.list(EVENTS, NAMESPACE)).items
    told = [event for event in found if event["involvedObject"]["kind"] == kind]
    return [(event["reason"], event["message"]) for event in sorted(told, key=lambda event: event["metadata"]["name"])]


def image(name: str) -> dict[str, Any]:
    return {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": name}]}}}}


async def change(cluster: VirtualCluster, patch: dict[str, Any]) -> None:
    await cluster.client.patch(apps_v1.DEPLOYMENTS, "web", patch, NAMESPACE, kind="strategic")
    await cluster.settled()


async def test_events_tell_of_scaling() -> None:
    async with VirtualCluster(nodes=0, parts=(CONTROLLERS,)) as cluster:
        await cluster.client.create(apps_v1.DEPLOYMENTS, deployment("web", 2), NAMESPACE)
        await cluster.settled()
        (name,) = await replica_sets(cluster)
        await change(cluster, {"spec": {"replicas": 0}})
        assert await events(cluster, "Deployment") == [
            ("ScalingReplicaSet", f"Scaled up replica set {name} from 0 to 2"),
            ("ScalingReplicaSet", f"Scaled down replica set {name} from 2 to 0"),
        ]
        told = await events(cluster, "ReplicaSet")
        assert [reason for reason, _ in told] == ["SuccessfulCreate"] * 2 + ["SuccessfulDelete"] * 2
        assert sorted(message.split(": ")[0] for _, message in told) == ["Created pod"] * 2 + ["Deleted pod"] * 2


async def test_a_version_used_again_keeps_its_history() -> None:
    async with VirtualCluster(nodes=0, parts=(CONTROLLERS,)) as cluster:
        await cluster.client.create(apps_v1.DEPLOYMENTS, deployment("web", 0, "v1"), NAMESPACE)
        for name in ("v2", "v3", "v1", "v2", "v1"):
            await change(cluster, image(name))
        versions = {
            each.spec.template.spec.containers[0].image: (
                each.metadata.annotations[revisions.REVISION],
                each.metadata.annotations.get(revisions.HISTORY),
            )
            for each in (await replica_sets(cluster)).values()
        }
        assert versions == {"v1": ("6", "1,4"), "v2": ("5", "2"), "v3": ("3", None)}
        web = await cluster.client.get(apps_v1.DEPLOYMENTS, "web", NAMESPACE)
        assert web.metadata.annotations[revisions.REVISION] == "6"
        assert web.metadata.generation == 6, "bookkeeping is no change of what is wanted"


async def test_history_beyond_its_limit_goes() -> None:
    async with VirtualCluster(nodes=0, parts=(CONTROLLERS,)) as cluster:
        await cluster.client.create(apps_v1.DEPLOYMENTS, deployment("web", 0, "v0", revisionHistoryLimit=2), NAMESPACE)
        for number in range(1, 6):
            await change(cluster, image(f"v{number}"))
        kept = {each.spec.template.spec.containers[0].image for each in (await replica_sets(cluster)).values()}
        assert kept == {"v5", "v4", "v3"}


async def test_a_name_that_is_taken_by_another_version_is_a_collision() -> None:
    async with VirtualCluster(nodes=0, parts=(CONTROLLERS,)) as cluster:
        client = cluster.client
        await client.create(apps_v1.DEPLOYMENTS, deployment("web", 1), NAMESPACE)
        await cluster.settled()
        (name,) = await replica_sets(cluster)
        await client.patch(apps_v1.REPLICASETS, name, {"metadata": {"labels": {"app": "other"}}}, NAMESPACE)
        await cluster.settled()
        web = await client.get(apps_v1.DEPLOYMENTS, "web", NAMESPACE)
        assert (web.status.collision_count, web.status.replicas) == (1, 1)
        found = await replica_sets(cluster)
        assert len(found) == 2
        assert found[name].metadata.owner_references == ()


async def test_pods_that_are_refused_are_told_of_and_made_later() -> None:
    async with VirtualCluster(nodes=0, parts=(CONTROLLERS,)) as cluster:
        client = cluster.client
        body = deployment("web", 2)
        body["spec"]["template"]["spec"]["serviceAccountName"] = "robot"
        await client.create(apps_v1.DEPLOYMENTS, body, NAMESPACE)
        await cluster.advance(5)
        (replica_set,) = (await replica_sets(cluster)).values()
        (condition,) = replica_set.status.conditions
        assert (condition.type, condition.status, condition.reason) == ("ReplicaFailure", "True", "FailedCreate")
        assert 'serviceaccount "robot" not found' in condition.message
        web = await client.get(apps_v1.DEPLOYMENTS, "web", NAMESPACE)
        assert "ReplicaFailure" in {each.type for each in web.status.conditions}
        told = await events(cluster, "ReplicaSet")
        assert told[0][0] == "FailedCreate"
        assert told[0][1].startswith("Error creating: pods ")

        await client.create(core_v1.SERVICEACCOUNTS, {"metadata": {"name": "robot"}}, NAMESPACE)
        await cluster.settled()
        (replica_set,) = (await replica_sets(cluster)).values()
        assert (replica_set.status.conditions, replica_set.status.replicas) == ((), 2)
        web = await client.get(apps_v1.DEPLOYMENTS, "web", NAMESPACE)
        assert "ReplicaFailure" not in {each.type for each in web.status.conditions}


async def test_a_paused_deployment_waits_and_a_resumed_one_goes_on() -> None:
    async with VirtualCluster() as cluster:
        await cluster.client.create(apps_v1.DEPLOYMENTS, deployment("web", 2, "v1"), NAMESPACE)
        await cluster.settled()
        await change(cluster, {"spec": {"paused": True, "replicas": 3, **image("v2")["spec"]}})
        (only,) = (await replica_sets(cluster)).values()
        assert (only.spec.replicas, only.spec.template.spec.containers[0].image) == (3, "v1")
        await change(cluster, {"spec": {"paused": False}})
        pods = (await cluster.client.list(core_v1.PODS, NAMESPACE)).items
        assert [pod.spec.containers[0].image for pod in pods] == ["v2"] * 3
