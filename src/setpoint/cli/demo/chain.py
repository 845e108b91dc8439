"""The chain from a Deployment to processes, told as the API server's watches show it."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from setpoint.api.machinery.resource import Resource
from setpoint.api.types.apps_v1 import REPLICASETS
from setpoint.api.types.core_v1 import EVENTS, PODS, Event, Pod
from setpoint.cli.demo.narrator import Narrator
from setpoint.client.client import Client
from setpoint.kit.tasks import Tasks


class Chain:
    """While in the block, tells what happens in a namespace, each thing once."""

    def __init__(self, client: Client, narrator: Narrator, namespace: str) -> None:
        self._client = client
        self._tell = narrator
        self._namespace = namespace
        self._tasks = Tasks("chain")
        self._told: set[str] = set()

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        followed: list[tuple[Resource[Any], Callable[[Any], None]]] = [
            (REPLICASETS, self._replica_set),
            (PODS, self._pod),
            (EVENTS, self._event),
        ]
        for resource, tell in followed:
            version = (await self._client.list(resource, self._namespace)).resource_version
            self._tasks.start(resource.plural, self._follow(resource, version, tell))
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._tasks.stop()
        await self._tasks.__aexit__(kind, error, trace)

    async def _follow(self, resource: Resource[Any], version: str, tell: Any) -> None:
        async for batch in self._client.watch(resource, self._namespace, resource_version=version, bookmarks=False):
            for event in batch:
                if event.type in ("ADDED", "MODIFIED"):
                    tell(event.object)

    def _once(self, line: str) -> None:
        if line not in self._told:
            self._told.add(line)
            self._tell.say(line)

    def _replica_set(self, replica_set: Any) -> None:
        self._once(f"Deployment controller → ReplicaSet {replica_set.metadata.name}, {replica_set.spec.replicas} replicas")

    def _pod(self, pod: Pod) -> None:
        name = pod.metadata.name
        self._once(f"ReplicaSet controller → pod {name}")
        if pod.spec.node_name:
            self._once(f"scheduler → pod {name} bound to {pod.spec.node_name}")
        if pod.status.phase == "Running":
            self._once(f"node agent → pod {name} Running at {pod.status.pod_ip}")

    def _event(self, event: Event) -> None:
        if event.type == "Warning":
            self._once(f"Warning: {event.reason}: {event.message}")
