"""The scheduler against a real API server in this process, on virtual time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import EVENTS, NODES, PERSISTENTVOLUMECLAIMS, PODS, SERVICEACCOUNTS, Pod
from setpoint.api.types.scheduling_v1 import PRIORITYCLASSES
from setpoint.api.types.storage_v1 import STORAGECLASSES
from setpoint.client.client import Client
from setpoint.kit.clock import VirtualClock
from setpoint.kit.tasks import Tasks
from setpoint.scheduler.cycle import Placement
from setpoint.scheduler.queue import Place, QueuedPod
from setpoint.scheduler.scheduler import Scheduler
from setpoint.testing.cluster import VirtualCluster

NO_ROOM = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 {}."


@dataclass
class World:
    """A cluster with nothing but an API server and a scheduler."""

    client: Client
    clock: VirtualClock
    scheduler: Scheduler

    async def node(self, name: str = "n1", cpu: str = "2", **spec: Any) -> None:
        resources = {"cpu": cpu, "memory": "4Gi", "pods": "10"}
        status = {"capacity": resources, "allocatable": resources, "conditions": [{"type": "Ready", "status": "True"}]}
        await self.client.create(NODES, {"metadata": {"name": name}, "spec": spec})
        await self.client.patch(NODES, name, {"status": status}, subresource="status")
        # The server keeps new nodes tainted until a controller has seen them ready; there is none here.
        await self.client.patch(NODES, name, {"spec": {"taints": spec.get("taints")}})

    async def pod(self, name: str = "p", cpu: str = "1", **spec: Any) -> None:
        container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}
        body = {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}
        await self.client.create(PODS, body, "default")

    async def get(self, name: str = "p") -> Pod:
        return await self.client.get(PODS, name, "default")

    async def idle(self, seconds: float = 0.1) -> None:
        await self.clock.advance(seconds)

    async def condition(self, name: str = "p") -> tuple[str, str, str]:
        [found] = [each for each in (await self.get(name)).status.conditions if each.type == "PodScheduled"]
        return found.status, found.reason, found.message

    async def events(self, reason: str) -> list[Any]:
        return [each for each in (await self.client.list(EVENTS, "default")).items if each.reason == reason]


@asynccontextmanager
async def running() -> AsyncIterator[World]:
    async with VirtualCluster(nodes=0, parts=()) as cluster, Tasks("test") as tasks:
        try:
            await cluster.client.create(SERVICEACCOUNTS, {"metadata": {"name": "default"}}, "default")
        except StatusError as error:
            if error.reason != "AlreadyExists":
                raise
        scheduler = Scheduler(cluster.client, cluster.clock, rng=random.Random(1))  # noqa: S311 - a test's seed
        tasks.start("scheduler", scheduler.run())
        await cluster.clock.advance(1)
        yield World(cluster.client, cluster.clock, scheduler)
        tasks.stop()


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with running() as world:
        yield world


async def test_a_pod_is_bound(world: World) -> None:
    await world.node()
    await world.pod()
    await world.idle()
    assert (await world.get()).spec.node_name == "n1"
    assert await world.condition() == ("True", "", "")
    [event] = await world.events("Scheduled")
    assert (event.type, event.action, event.message) == ("Normal", "Binding", "Successfully assigned default/p to n1")
    assert event.reporting_component == "default-scheduler"


async def test_a_refused_pod_hears_why_and_is_placed_when_room_is_made(world: World) -> None:
    await world.node()
    await world.pod("a", "2", nodeName="n1")
    await world.pod()
    await world.idle()
    message = NO_ROOM.format("No preemption victims found for incoming pod")
    assert await world.condition() == ("False", "Unschedulable", message)
    [event] = await world.events("FailedScheduling")
    assert (event.type, event.action, event.message) == ("Warning", "Scheduling", message)
    await world.client.delete(PODS, "a", "default", grace_seconds=0)
    await world.idle()
    assert (await world.get()).spec.node_name == "n1"
    assert (await world.condition())[0] == "True"


async def test_without_nodes_then_with_one(world: World) -> None:
    await world.pod()
    await world.idle()
    assert await world.condition() == ("False", "Unschedulable", "no nodes available to schedule pods")
    await world.node()
    await world.idle()
    assert (await world.get()).spec.node_name == "n1"


async def test_a_settled_scheduler_writes_nothing(world: World) -> None:
    await world.node()
    await world.pod("big", "64")
    await world.idle()
    before = (await world.get("big")).metadata.resource_version
    await world.clock.advance(3600)
    assert (await world.get("big")).metadata.resource_version == before


async def test_cycles_see_assumed_pods(world: World) -> None:
    await world.node("n1")
    await world.node("n2")
    await asyncio.gather(*(world.pod(f"p{number}") for number in range(5)))
    await world.idle()
    placed = [(await world.get(f"p{number}")).spec.node_name for number in range(5)]
    assert sorted(placed) == ["", "n1", "n1", "n2", "n2"]


async def test_finished_pods_give_their_room_back(world: World) -> None:
    await world.node()
    await world.pod("a", "2", nodeName="n1")
    await world.client.patch(PODS, "a", {"status": {"phase": "Succeeded"}}, "default", subresource="status")
    await world.pod()
    await world.idle()
    assert (await world.get()).spec.node_name == "n1"


async def test_pods_of_other_schedulers_are_left_alone(world: World) -> None:
    await world.node()
    await world.pod(schedulerName="mine")
    await world.idle()
    assert not (await world.get()).spec.node_name
    assert not await world.events("FailedScheduling")


async def test_gated_pods_wait_without_an_event(world: World) -> None:
    await world.node()
    await world.pod(schedulingGates=[{"name": "example.com/a"}])
    await world.idle()
    assert not (await world.get()).spec.node_name
    assert not await world.events("FailedScheduling")
    await world.client.patch(PODS, "p", {"spec": {"schedulingGates": None}}, "default")
    await world.idle()
    assert (await world.get()).spec.node_name == "n1"


@pytest.mark.parametrize("point", ["pre_filter", "reserve", "permit", "pre_bind", "bind"])
async def test_a_plugin_that_breaks_costs_its_pod_an_attempt_and_no_other_anything(
    world: World, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    await world.node()
    works = getattr(world.scheduler.profile, point)
    failures = 1

    def fail(state: Any, pod: Pod, *more: Any) -> Any:
        nonlocal failures
        if pod.metadata.name == "p" and failures:
            failures -= 1
            raise KeyError("broken")
        return works(state, pod, *more)

    monkeypatch.setattr(world.scheduler.profile, point, fail)
    await world.pod("p")
    await world.pod("q")
    await world.idle()
    assert (await world.get("q")).spec.node_name == "n1"
    assert (await world.condition())[1] == "SchedulerError"
    await world.clock.advance(3)
    assert (await world.get()).spec.node_name == "n1"


async def test_a_pod_that_waits_for_its_volume_tells_its_node(world: World) -> None:
    selected, client = "volume.kubernetes.io/selected-node", world.client
    await world.node()
    made = {"metadata": {"name": "s"}, "provisioner": "example.com/p", "volumeBindingMode": "WaitForFirstConsumer"}
    await client.create(STORAGECLASSES, made)
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "s"}
    await client.create(PERSISTENTVOLUMECLAIMS, {"metadata": {"name": "c"}, "spec": spec}, "default")
    await world.pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
    await world.idle()
    assert (await client.get(PERSISTENTVOLUMECLAIMS, "c", "default")).metadata.annotations[selected] == "n1"
    pod = await world.get()
    assert (pod.spec.node_name, pod.status.nominated_node_name, pod.status.conditions) == ("", "n1", ())
    # The provisioner gives up: the pod looks again, and hears why.
    await client.patch(PERSISTENTVOLUMECLAIMS, "c", {"metadata": {"annotations": {selected: None}}}, "default")
    await world.idle()
    message = 'running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "c"'
    assert await world.condition() == ("False", "SchedulerError", message)
    assert (await world.get()).status.nominated_node_name == ""


async def test_a_lost_binding_is_tried_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.node()
    post = world.client.create_subresource
    failures = 2

    async def fail(*arguments: Any, **keywords: Any) -> Any:
        nonlocal failures
        if failures:
            failures -= 1
            raise StatusError(500, "InternalError", "not now")
        return await post(*arguments, **keywords)

    monkeypatch.setattr(world.client, "create_subresource", fail)
    await world.pod("p", "2")
    await world.idle()
    status, reason, message = await world.condition()
    assert (status, reason) == ("False", "SchedulerError")
    assert message == 'running Bind plugin "DefaultBinder": not now'
    await world.clock.advance(1)
    assert not (await world.get()).spec.node_name
    await world.clock.advance(2)
    assert (await world.get()).spec.node_name == "n1"


async def test_preemption(world: World) -> None:
    await world.node()
    await world.pod("v", "2", nodeName="n1")
    important = {"metadata": {"name": "high"}, "value": 1000}
    await world.client.create(PRIORITYCLASSES, important)
    await world.pod("p", "2", priorityClassName="high")
    await world.idle()
    victim = await world.get("v")
    assert victim.metadata.deletion_grace_period_seconds == 30
    [disruption] = [each for each in victim.status.conditions if each.type == "DisruptionTarget"]
    assert disruption.reason == "PreemptionByScheduler"
    assert disruption.message == "default-scheduler: preempting to accommodate a higher priority pod"
    preemptor = await world.get()
    assert preemptor.status.nominated_node_name == "n1"
    [event] = await world.events("Preempted")
    assert event.message == f"Preempted by pod {preemptor.metadata.uid} on node n1"
    await world.pod("q", "1")
    await world.idle()
    await world.client.delete(PODS, "v", "default", grace_seconds=0)
    await world.idle()
    assert (await world.get()).spec.node_name == "n1"
    assert not (await world.get("q")).spec.node_name


async def crowded(world: World, monkeypatch: pytest.MonkeyPatch, refusals: int) -> None:
    """Three full nodes, a server that takes its time to delete, and refuses at first; then come three more important pods."""
    await world.client.create(PRIORITYCLASSES, {"metadata": {"name": "high"}, "value": 1000})
    for number in range(6):
        if not number % 2:
            await world.node(f"n{number // 2}")
        await world.pod(f"low{number}", nodeName=f"n{number // 2}", terminationGracePeriodSeconds=0)
    delete, asked = world.client.delete, iter(range(100))

    async def slowly(*args: Any, **options: Any) -> None:
        turn = next(asked)
        await world.clock.sleep(0.2 * (turn + 1))
        if turn < refusals:
            raise StatusError(503, "ServiceUnavailable", "not now")
        await delete(*args, **options)

    monkeypatch.setattr(world.scheduler._client, "delete", slowly)
    for number in range(3):
        await world.pod(f"high{number}", priorityClassName="high")


@pytest.mark.parametrize("refusals", [0, 2])
async def test_each_pod_has_no_more_evicted_than_it_needs(world: World, monkeypatch: pytest.MonkeyPatch, refusals: int) -> None:
    """What is evicted for one makes others look again, which wait for victims of their own."""
    await crowded(world, monkeypatch, refusals)
    await world.idle(30)
    left = (await world.client.list(PODS, "default")).items
    assert all(pod.spec.node_name for pod in left)
    assert sorted(pod.metadata.name[:-1] for pod in left) == ["high"] * 3 + ["low"] * 3


async def test_for_a_pod_that_goes_while_it_is_looked_at_nobody_is_evicted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.node()
    await world.pod("v", "2", nodeName="n1")
    await world.client.create(PRIORITYCLASSES, {"metadata": {"name": "high"}, "value": 1000})
    cycle = world.scheduler._cycle

    async def slowly(queued: QueuedPod) -> Placement:
        """As with many nodes, or an extender that takes its time."""
        await world.client.delete(PODS, "p", "default")
        for _ in range(100):  # until the scheduler has heard of it
            await asyncio.sleep(0)
        assert queued.place is Place.GONE
        return await cycle(queued)

    monkeypatch.setattr(world.scheduler, "_cycle", slowly)
    await world.pod("p", "2", priorityClassName="high")
    await world.idle()
    assert (await world.get("v")).metadata.deletion_timestamp is None
    assert not len(world.scheduler.nominator)
    assert world.scheduler.queue.counts()[Place.IN_FLIGHT] == 0


async def test_a_restart_knows_what_is_where() -> None:
    async with running() as world:
        await world.node()
        await world.pod("a", "2")
        await world.idle()
        second = Scheduler(world.client, world.clock)
        async with Tasks("second") as tasks:
            tasks.start("scheduler", second.run())
            await world.idle()
            [info] = second.snapshot.nodes
            assert info.requested == {"cpu": 2000}
            tasks.stop()
