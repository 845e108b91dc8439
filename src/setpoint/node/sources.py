"""ConfigMaps and Secrets that the pods of this node use, each watched by itself, as kubelet does.

A source is watched from the first pod that asks for it to the last that lets go. While the API server is away, what was seen
last stays valid.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import Struct, field

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.client.client import ClientProtocol
from setpoint.client.informer import Informer
from setpoint.client.transport import TransportError
from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks

T = TypeVar("T")
PATIENCE = 5.0  # seconds


class SourceUnavailable(Exception):
    """The API server did not answer, and the object was never seen."""


class _Watched(Struct):
    informer: Informer[Any]
    task: asyncio.Task[None]
    pods: set[str] = field(default_factory=set)


class Sources:
    """`on_change(pod_uid)` is called on the loop when something that the pod uses changed."""

    def __init__(self, client: ClientProtocol, clock: Clock, tasks: Tasks) -> None:
        self.on_change: Callable[[str], None] = lambda _: None
        self._client = client
        self._clock = clock
        self._tasks = tasks
        self._watched: dict[tuple[str, str, str], _Watched] = {}

    async def get(self, resource: Resource[T], namespace: str, name: str, pod_uid: str) -> T | None:
        """The object as last seen, None if there is none; raises SourceUnavailable."""
        key = (resource.plural, namespace, name)
        watched = self._watched.get(key)
        if watched is None:
            watched = self._watched[key] = self._watch(resource, namespace, name)
        watched.pods.add(pod_uid)
        if not await self._clock.wait(watched.informer.synced, PATIENCE):
            raise SourceUnavailable(f"failed to sync {resource.kind.lower()} cache: timed out waiting for the condition")
        found: T | None = watched.informer.store.get(f"{namespace}/{name}")
        return found

    async def read(self, resource: Resource[T], name: str, namespace: str = "") -> T | None:
        """The object as it is now, for what is not watched; None if there is none; raises SourceUnavailable."""
        try:
            return await self._client.get(resource, name, namespace)
        except StatusError as error:
            if error.reason == "NotFound":
                return None
            raise SourceUnavailable(error.message) from error
        except TransportError as error:
            raise SourceUnavailable(str(error)) from error

    def _watch(self, resource: Resource[T], namespace: str, name: str) -> _Watched:
        informer = Informer(self._client, resource, self._clock, namespace, field_selector=f"metadata.name={name}")
        task = self._tasks.loop(f"source {resource.plural}/{namespace}/{name}", informer.run, clock=self._clock)
        watched = _Watched(informer, task)

        def changed(*_: object) -> None:
            if informer.synced.is_set():
                for pod_uid in watched.pods:
                    self.on_change(pod_uid)

        informer.on_change(changed)
        return watched

    def release(self, pod_uid: str) -> None:
        """The pod is gone: what only it used is no longer watched."""
        for key, watched in list(self._watched.items()):
            watched.pods.discard(pod_uid)
            if not watched.pods:
                watched.task.cancel()
                del self._watched[key]
