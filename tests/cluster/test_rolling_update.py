"""A rolling update seen by a client that watches pods: never too few available, never too many at all."""

from __future__ import annotations

import math
from typing import Any

import pytest

from setpoint.api.types import apps_v1, core_v1
from setpoint.client.client import WatchEvent
from setpoint.kit.tasks import Tasks
from setpoint.node.simulated import Stages
from setpoint.testing.chaos import deployment
from setpoint.testing.cluster import VirtualCluster

NAMESPACE = "default"


class Watcher:
    """Keeps the pods as a watch shows them, and the extremes of their counts."""

    def __init__(self) -> None:
        self.pods: dict[str, core_v1.Pod] = {}
        self.least_available = 10**9
        self.most = 0
        self.events = 0

    def take(self, event: WatchEvent[core_v1.Pod]) -> None:
        if event.type == "BOOKMARK":
            return
        name = event.object.metadata.name
        if event.type == "DELETED":
            self.pods.pop(name, None)
        else:
            self.pods[name] = event.object
        living = [pod for pod in self.pods.values() if not pod.metadata.deletion_timestamp]
        self.most = max(self.most, len(living))
        self.least_available = min(self.least_available, sum(map(ready, living)))
        self.events += 1


def ready(pod: core_v1.Pod) -> bool:
    return any(condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions)


async def watch(cluster: VirtualCluster, watcher: Watcher) -> None:
    found = await cluster.client.list(core_v1.PODS, NAMESPACE)
    watcher.pods = {pod.metadata.name: pod for pod in found.items}
    async for batch in cluster.client.watch(core_v1.PODS, NAMESPACE, resource_version=found.resource_version):
        for event in batch:
            watcher.take(event)


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable"),
    [(4, "25%", "25%"), (10, "25%", "25%"), (3, 1, 0), (3, 0, 1), (5, 2, 2), (6, "100%", 0), (1, "25%", "25%")],
)
async def test_availability_and_surge_hold_at_every_event(replicas: int, surge: int | str, unavailable: int | str) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
    async with VirtualCluster(stages=Stages(create=1.5, ready=0.7, stop=2)) as cluster:
        body = deployment("web", replicas, "v1", strategy=strategy)
        await cluster.client.create(apps_v1.DEPLOYMENTS, body, NAMESPACE)
        await cluster.settled()
        watcher = Watcher()
        async with Tasks("watching") as tasks:
            tasks.start("watch", watch(cluster, watcher))
            await cluster.clock.idle()
            await cluster.client.patch(apps_v1.DEPLOYMENTS, "web", new_image("v2"), NAMESPACE, kind="strategic")
            await cluster.settled()
            tasks.stop()
        assert {pod.spec.containers[0].image for pod in watcher.pods.values()} == {"v2"}
        assert watcher.most <= replicas + rounded(surge, replicas, math.ceil)
        assert watcher.least_available >= replicas - rounded(unavailable, replicas, math.floor)
        assert watcher.events > 4 * replicas


async def test_a_rollout_that_fails_leaves_the_old_pods_and_can_be_undone() -> None:
    def stages(pod: core_v1.Pod) -> Stages:
        return Stages(ready=10**6) if pod.spec.containers[0].image == "bad" else Stages()

    async with VirtualCluster(stages=stages) as cluster:
        client = cluster.client
        await client.create(apps_v1.DEPLOYMENTS, deployment("web", 4, "good", progressDeadlineSeconds=30), NAMESPACE)
        await cluster.settled()
        await client.patch(apps_v1.DEPLOYMENTS, "web", new_image("bad"), NAMESPACE, kind="strategic")
        await cluster.advance(60)
        stuck = await client.get(apps_v1.DEPLOYMENTS, "web", NAMESPACE)
        assert reason(stuck, "Progressing") == ("False", "ProgressDeadlineExceeded")
        assert (stuck.status.available_replicas, stuck.status.updated_replicas) == (3, 2)
        await client.patch(apps_v1.DEPLOYMENTS, "web", new_image("good"), NAMESPACE, kind="strategic")
        await cluster.advance(60)
        undone = await client.get(apps_v1.DEPLOYMENTS, "web", NAMESPACE)
        assert reason(undone, "Progressing") == ("True", "NewReplicaSetAvailable")
        assert (undone.status.available_replicas, undone.status.updated_replicas, undone.status.replicas) == (4, 4, 4)
        assert undone.metadata.annotations["deployment.kubernetes.io/revision"] == "3"


async def test_recreate_never_has_two_versions_at_once() -> None:
    async with VirtualCluster() as cluster:
        client = cluster.client
        await client.create(apps_v1.DEPLOYMENTS, deployment("web", 3, "v1", strategy={"type": "Recreate"}), NAMESPACE)
        await cluster.settled()
        await client.patch(apps_v1.DEPLOYMENTS, "web", new_image("v2"), NAMESPACE, kind="strategic")
        seen: set[frozenset[str]] = set()
        for _ in range(100):
            pods = (await client.list(core_v1.PODS, NAMESPACE)).items
            seen.add(frozenset(pod.spec.containers[0].image for pod in pods))
            await cluster.advance(0.1)
        assert seen - {frozenset()} == {frozenset({"v1"}), frozenset({"v2"})}


def new_image(image: str) -> dict[str, Any]:
    return {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}}


def rounded(value: int | str, whole: int, way: Any) -> int:
    return value if isinstance(value, int) else int(way(int(value.removesuffix("%")) * whole / 100))


def reason(of: apps_v1.Deployment, type: str) -> tuple[str, str]:
    condition = next(each for each in of.status.conditions if each.type == type)
    return condition.status, condition.reason
