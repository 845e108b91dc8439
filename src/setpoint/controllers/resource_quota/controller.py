"""Wiring: quotas by their informer, pods by theirs; other counted kinds are watched, metadata only, once a quota names them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from setpoint.api.machinery import quota
from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import PODS, RESOURCEQUOTAS, Pod, ResourceQuota
from setpoint.client.client import WatchEvent
from setpoint.client.controller import Controller
from setpoint.client.metadata import PartialObjectMetadata
from setpoint.client.objects import key_of
from setpoint.client.reflector import Reflector
from setpoint.client.settled import Activity
from setpoint.client.transport import TransportError
from setpoint.controllers.component import Context
from setpoint.controllers.resource_quota.reconciler import Observed, Plan, QuotaReconciler
from setpoint.kit.tasks import Tasks

NAME = "resourcequota-controller"
#: seconds between full counts: what was charged and never stored is given back then
RESYNC = 300.0
_CHANGES_COUNT = {"persistentvolumeclaims", "services"}


class Watched:
    """A reflector's sink that keeps nothing: it tells in which namespace (empty: in any) something was given back."""

    def __init__(self, resource: str, freed: Callable[[str, str], None]) -> None:
        self._resource = resource
        self._freed = freed

    async def replace(self, items: Sequence[PartialObjectMetadata]) -> None:
        """Something may have gone while nobody watched."""
        self._freed(self._resource, "")

    def apply(self, events: Sequence[WatchEvent[PartialObjectMetadata]]) -> None:
        for event in events:
            counts = event.type == "DELETED" or (event.type == "MODIFIED" and self._resource in _CHANGES_COUNT)
            if counts:
                self._freed(self._resource, event.object.metadata.namespace)


class ResourceQuotas:
    """The controller and its watches."""

    name = NAME

    def __init__(self, context: Context) -> None:
        self._context = context
        self._quotas = context.informers.of(RESOURCEQUOTAS)
        pods = context.informers.of(PODS)
        self._reconciler = QuotaReconciler(context.client, context.clock, self._quotas.store, pods)
        self._controller: Controller[Observed, Plan] = Controller(
            NAME, self._reconciler, context.clock, workers=2, informers=(self._quotas,)
        )
        self.trace = self._controller.trace
        self._wanted: set[str] = set()
        self._more = asyncio.Event()
        self._quotas.on_change(self._quota_changed)
        pods.on_change(self._pod_changed)

    def _quota_changed(self, _: str, old: ResourceQuota | None, changed: ResourceQuota | None) -> None:
        """Its status is written by admission, too: only a new `hard` needs a count."""
        if changed is not None:
            self._reconciler.changed(key_of(changed))
        if changed is None or (old is not None and old.spec == changed.spec and changed.status.hard == changed.spec.hard):
            return
        wanted = {quota.counted_resource(name) for name in changed.spec.hard or {}} - {"", "pods"}
        if not wanted <= self._wanted:
            self._wanted |= wanted
            self._more.set()
        self._controller.enqueue(key_of(changed))

    def _pod_changed(self, _: str, old: Pod | None, changed: Pod | None) -> None:
        if old is None or not len(self._quotas.store):
            return
        over = changed is None or (changed.status.phase != old.status.phase and changed.status.phase in {"Failed", "Succeeded"})
        if over:
            self._freed("pods", old.metadata.namespace)

    def _freed(self, resource: str, namespace: str) -> None:
        for each in self._quotas.store.list(namespace):
            if quota.concerned(resource, each.spec.hard or {}):
                self._controller.enqueue(key_of(each))

    async def run(self) -> None:
        """Count until cancelled."""
        async with Tasks(NAME) as tasks:
            tasks.start("counts", self._controller.run())
            tasks.loop("full counts", self._resync, clock=self._context.clock)
            await self._watch(tasks)

    async def _resync(self) -> None:
        while True:
            await self._context.clock.sleep(RESYNC)
            for each in self._quotas.store.list():
                self._controller.enqueue(key_of(each))

    async def _watch(self, tasks: Tasks) -> None:
        """A watch for each resource that a quota names, from then on."""
        watched: set[str] = set()
        while True:
            await self._more.wait()
            self._more.clear()
            for name in sorted(self._wanted - watched):
                try:
                    resource: Any = await self._reconciler.resource(name)
                except (StatusError, TransportError):
                    self._more.set()
                    await self._context.clock.sleep(1.0)
                    break
                if resource is None:
                    continue
                watched.add(name)
                sink = Watched(name, self._freed)
                reflector: Reflector[Any] = Reflector(self._context.client, resource, self._context.clock, sink)
                tasks.loop(f"watch {name}", reflector.run, clock=self._context.clock)

    def activity(self) -> Activity:
        return self._controller.activity()


def new(context: Context) -> ResourceQuotas:
    """The controller, its handlers registered; nothing runs yet."""
    return ResourceQuotas(context)
