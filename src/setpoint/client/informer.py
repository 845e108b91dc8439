"""A shared informer: one collection, kept in a store, with handlers for its changes.

Promises: handlers see every change that the server reported, in order, after the store holds it; changes that were missed (the
server no longer had them) show as one change from the last known state to the present one. A handler may see an object again
unchanged after a re-list only if its resourceVersion differs. Handlers are synchronous and do one thing: enqueue keys.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from setpoint.api.machinery.resource import Resource
from setpoint.client.client import ClientProtocol, WatchEvent
from setpoint.client.objects import key_of, resource_version_of
from setpoint.client.reflector import Reflector
from setpoint.client.settled import Activity
from setpoint.client.store import IndexFunction, Store
from setpoint.kit import logs
from setpoint.kit.clock import Clock

T = TypeVar("T")
Handler = Callable[[str, T | None, T | None], None]
log = logs.get_logger("client.informer")

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"
_YIELD_EVERY = 500


class Informer(Generic[T]):
    """Nothing runs until `run()` does, and that until it is cancelled."""

    def __init__(
        self,
        client: ClientProtocol,
        resource: Resource[T],
        clock: Clock,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        indexers: Mapping[str, IndexFunction[T]] | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self.resource = resource
        self.name = f"{resource.group_resource}{'/' + namespace if namespace else ''}"
        self.store: Store[T] = Store(indexers)
        self.synced = asyncio.Event()
        self._handlers: list[Handler[T]] = []
        self._reflector: Reflector[T] = Reflector(
            client, resource, clock, self, namespace, label_selector, field_selector, rng=rng
        )

    @property
    def has_synced(self) -> bool:
        """Whether the first list is in the store and its handlers were called."""
        return self.synced.is_set()

    @property
    def resource_version(self) -> str:
        """How far the store has come."""
        return self._reflector.resource_version

    def on_change(self, handler: Handler[T], *, from_now: bool = False) -> None:
        """Call `handler(type, old, new)` for ADDED (old is None), MODIFIED, DELETED (new is None, old the last state).

        What is already in the store is handed over as ADDED at once; `from_now`: it is not.
        """
        self._handlers.append(handler)
        for obj in self.store.list() if not from_now else ():
            handler(ADDED, None, obj)

    def add_index(self, name: str, function: IndexFunction[T]) -> None:
        self.store.add_index(name, function)

    async def run(self) -> None:
        """List, watch, for ever. Cancelled, it leaves the store as it is."""
        await self._reflector.run()

    def activity(self) -> Activity:
        """In flight while it lists; a watch that waits for events is calm, one that waits for a server is not."""
        return Activity(in_flight=0 if self._reflector.calm else 1)

    # -- what the reflector calls

    async def replace(self, items: Sequence[T]) -> None:
        """Take over a whole list: what is missing in it is gone."""
        keep = set()
        for count, obj in enumerate(items, 1):
            keep.add(key_of(obj))
            self._put(obj)
            if count % _YIELD_EVERY == 0:
                await asyncio.sleep(0)
        for key in self.store:
            if key not in keep:
                self._remove(key, None)
        self.synced.set()

    def apply(self, events: Sequence[WatchEvent[T]]) -> None:
        """Take over a batch of a watch."""
        for event in events:
            if event.type == DELETED:
                self._remove(key_of(event.object), event.object)
            else:
                self._put(event.object)

    def _put(self, obj: T) -> None:
        old = self.store.put(obj)
        if old is None:
            self._notify(ADDED, None, obj)
        elif resource_version_of(old) != resource_version_of(obj):
            self._notify(MODIFIED, old, obj)

    def _remove(self, key: str, final: T | None) -> None:
        old = self.store.remove(key)
        if old is not None:
            self._notify(DELETED, final if final is not None else old, None)

    def _notify(self, kind: str, old: T | None, new: T | None) -> None:
        for handler in self._handlers:
            try:
                handler(kind, old, new)
            except Exception:  # a handler's error must not stop the others, nor the watch
                log.exception("handler failed", informer=self.name, type=kind)


def any_of(old: T | None, new: T | None) -> T:
    """The object that a handler was called for, in its newest state."""
    obj = new if new is not None else old
    if obj is None:
        raise ValueError("a change has an old or a new object")
    return obj
