"""One watch per resource, all feeding one graph; which resources there are is asked again from time to time.

What other controllers follow anyway is not watched twice: their informer tells. Only the other resources have watches of their
own, of metadata. Source: Kubernetes `controller-manager/pkg/informerfactory`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from setpoint.api.machinery.status import StatusError
from setpoint.client.client import Client, WatchEvent
from setpoint.client.discovery import Discovered, discover
from setpoint.client.factory import InformerFactory
from setpoint.client.informer import Informer
from setpoint.client.metadata import PartialObjectMetadata
from setpoint.client.reflector import Reflector
from setpoint.client.settled import Activity
from setpoint.client.transport import TransportError
from setpoint.controllers.garbage_collector.graph import Graph, View
from setpoint.kit import logs
from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks

PERIOD = 30.0
_IGNORED = {"events", "events.events.k8s.io"}  # they never own and are never owned; by far the most frequent writes
_YIELD_EVERY = 500
log = logs.get_logger("controllers.garbage_collector")

Look = Callable[[Iterable[str]], None]


class Shared:
    """One resource as an informer shows it that others use, too."""

    def __init__(self, informer: Informer[Any], resource: View, graph: Graph, look: Look) -> None:
        self.synced = asyncio.Event()
        self.resource = resource
        self._informer = informer
        self._graph = graph
        self._look = look
        self._over = False
        informer.on_change(self._changed, from_now=True)

    async def load(self) -> None:
        """Take over what is there, some at a time: a large collection as a whole would hold everybody up."""
        store = self._informer.store
        for count, key in enumerate([*store], 1):
            obj = store.get(key)
            if obj is not None:
                self._changed("ADDED", None, obj)
            if count % _YIELD_EVERY == 0:
                await asyncio.sleep(0)
        await self._informer.synced.wait()
        self.synced.set()

    def _changed(self, _: str, old: Any, new: Any) -> None:
        if self._over:
            return
        before = old.metadata if old is not None else None
        meta = new.metadata if new is not None else None
        if before is not None and (meta is None or before.uid != meta.uid):
            self._look(self._graph.remove(before.uid))
            before = None
        if meta is not None and (before is None or _concerns(meta) != _concerns(before)):
            self._look(self._graph.put(self.resource, meta))

    @property
    def calm(self) -> bool:
        return self.synced.is_set() and not self._informer.activity().in_flight

    def stop(self) -> None:
        self._over = True


def _concerns(meta: Any) -> tuple[Any, ...]:
    """What of an object's metadata the graph depends on, beside its identity."""
    return meta.owner_references, meta.deletion_timestamp, meta.finalizers


class Monitor:
    """One resource: a reflector's sink that keeps nothing but uids."""

    def __init__(self, client: Client, resource: View, clock: Clock, graph: Graph, look: Look) -> None:
        self.synced = asyncio.Event()
        self.task: asyncio.Task[Any] | None = None
        self.resource = resource
        self.reflector = Reflector(client, resource, clock, self)
        self._graph = graph
        self._look = look
        self._uids: set[str] = set()

    async def replace(self, items: Sequence[PartialObjectMetadata]) -> None:
        present = set()
        for count, obj in enumerate(items, 1):
            present.add(obj.metadata.uid)
            self._look(self._graph.put(self.resource, obj.metadata))
            if count % _YIELD_EVERY == 0:
                await asyncio.sleep(0)
        for uid in self._uids - present:
            self._look(self._graph.remove(uid))
        self._uids = present
        self.synced.set()

    def apply(self, events: Sequence[WatchEvent[PartialObjectMetadata]]) -> None:
        for event in events:
            meta = event.object.metadata
            if event.type == "DELETED":
                self._uids.discard(meta.uid)
                self._look(self._graph.remove(meta.uid))
            else:
                self._uids.add(meta.uid)
                self._look(self._graph.put(self.resource, meta))

    @property
    def calm(self) -> bool:
        return self.reflector.calm

    def stop(self) -> None:
        if self.task is not None:
            self.task.cancel()


class Monitors:
    """All of them. `on_discovered` hears of each new answer of discovery."""

    def __init__(  # a client, a clock, informers, the graph, and who hears of what
        self,
        client: Client,
        clock: Clock,
        informers: InformerFactory,
        graph: Graph,
        look: Look,
        on_discovered: Callable[[Discovered], None],
    ) -> None:
        self._client = client
        self._informers = informers
        self._clock = clock
        self._graph = graph
        self._look = look
        self._on_discovered = on_discovered
        self._monitors: dict[str, Monitor | Shared] = {}

    async def run(self, tasks: Tasks) -> None:
        """Follow what discovery says, for ever."""
        while True:
            try:
                found = await discover(self._client)
            except (StatusError, TransportError) as error:
                log.debug("discovery failed", error=str(error))
                await self._clock.sleep(1.0)
                continue
            self._on_discovered(found)
            self._follow(found, tasks)
            await self._clock.sleep(PERIOD)

    def _follow(self, found: Discovered, tasks: Tasks) -> None:
        wanted = {
            served.resource.group_resource: served.resource
            for served in found.served
            if served.can("delete", "list", "watch") and served.resource.group_resource not in _IGNORED
        }
        stale = {each.rpartition("/")[0] for each in found.stale}
        for name, monitor in [*self._monitors.items()]:
            if monitor.resource != wanted.get(name) and monitor.resource.group not in stale:
                del self._monitors[name]
                monitor.stop()
        for name, resource in wanted.items():
            if name not in self._monitors:
                self._monitors[name] = self._monitor(resource, tasks)

    def _monitor(self, resource: View, tasks: Tasks) -> Monitor | Shared:
        known = self._informers.whole(resource)
        if known is not None:
            shared = Shared(known, resource, self._graph, self._look)
            tasks.start(f"monitor {resource.group_resource}", shared.load())
            return shared
        monitor = Monitor(self._client, resource, self._clock, self._graph, self._look)
        monitor.task = tasks.loop(f"monitor {resource.group_resource}", monitor.reflector.run, clock=self._clock)
        return monitor

    async def wait_synced(self) -> None:
        """Until every resource known now was listed once."""
        while not self._monitors:
            await self._clock.sleep(0.01)
        for monitor in [*self._monitors.values()]:
            await monitor.synced.wait()

    def activity(self) -> Activity:
        return Activity(in_flight=sum(not monitor.calm for monitor in self._monitors.values()))
