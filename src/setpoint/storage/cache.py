"""The watch cache: a Store in front of a Store, which reads and watches the one behind only once, whoever asks.

Reads, past ones too, and watches are answered from memory; writes go through. Three promises are kept:

- a read now is as new as the store behind (`latest`), so it never hides an acknowledged write;
- a write through the cache is visible in it when it returns;
- if the one watch of the store behind breaks, the cache starts again from a list: history before it is Compacted, and every
  watcher is dropped (Lagged), since what happened in between is not known event by event.

`local.LocalStore` holds such an index itself, so in one process this decorator is left out; it is made for remote backends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks
from setpoint.storage.mvcc import Index, Retention
from setpoint.storage.progress import Progress
from setpoint.storage.protocol import (
    Diagnosed,
    Encode,
    Event,
    Lagged,
    NotFound,
    Page,
    Record,
    Store,
    Unavailable,
    Watch,
)
from setpoint.storage.watchers import Watchers

UPSTREAM_CAPACITY = 50_000
CATCH_UP_SECONDS = 10.0
TRIM_SECONDS = 60.0


class Cache:
    """Implements `protocol.Store` over another one; see the module."""

    def __init__(self, upstream: Store, clock: Clock, *, retention: Retention | None = None) -> None:
        self._upstream = upstream
        self._clock = clock
        self._index = Index(retention)
        self._watchers = Watchers()
        self._running = AsyncExitStack()
        self._tasks: Tasks | None = None
        self._filled = asyncio.Event()
        self._progress = Progress(clock)

    async def open(self) -> None:
        await self._upstream.open()
        self._tasks = await self._running.enter_async_context(Tasks("storage.cache"))
        self._tasks.loop("follow", self._follow, clock=self._clock)
        self._tasks.loop("trim", self._trim, clock=self._clock)
        await self._filled.wait()

    async def close(self) -> None:
        if self._tasks is not None:
            self._tasks.stop()
            self._tasks = None
            await self._running.aclose()
        self._watchers.end_all()
        await self._upstream.close()

    async def _follow(self) -> None:
        """List, then watch; again when the watch breaks."""
        while True:
            page = await self._upstream.list("")
            self._index.load(page.records, page.revision)
            self._watchers.end_all(Lagged("the cache lost its watch and began anew"))
            self._watchers.revision = page.revision
            self._filled.set()
            self._progress.reach(self._index.revision)
            try:
                async with await self._upstream.watch("", after=page.revision, capacity=UPSTREAM_CAPACITY) as watch:
                    while True:
                        self._take(await watch.next())
            except Lagged:
                continue

    def _take(self, events: Sequence[Event]) -> None:
        now = self._clock.monotonic()
        for event in events:
            self._index.apply(event, now)
        self._watchers.publish(events, self._index.revision)
        self._progress.reach(self._index.revision)

    async def _trim(self) -> None:
        while True:
            await self._clock.sleep(TRIM_SECONDS)
            self._index.trim(self._clock.monotonic())
            self._index.take_dead()

    # ---- reads

    @property
    def revision(self) -> int:
        return self._index.revision

    @property
    def trouble(self) -> str:
        return self._upstream.trouble if isinstance(self._upstream, Diagnosed) else ""

    async def latest(self) -> int:
        return await self._upstream.latest()

    async def settle(self, key: str) -> None:
        await self._upstream.settle(key)
        await self._reach(await self._upstream.latest())

    async def wait_for(self, revision: int, seconds: float) -> bool:
        return await self._progress.wait(revision, seconds)

    async def _reach(self, revision: int) -> None:
        if revision > self._index.revision and not await self._progress.wait(revision, CATCH_UP_SECONDS):
            raise Unavailable(f"the cache is at revision {self._index.revision} and did not reach {revision} in time")

    async def _reach_past(self, revision: int) -> None:
        """For a read or watch of a given revision: what the caller knows of has happened, even if not here yet."""
        if revision > self._index.revision and revision <= await self._upstream.latest():
            await self._reach(revision)

    async def get(self, key: str, *, revision: int = 0) -> Record:
        await (self._reach_past(revision) if revision else self._reach(await self._upstream.latest()))
        found = self._index.get_at(key, revision) if revision else self._index.get(key)
        if found is None:
            raise NotFound(key)
        return found

    async def head(self, key: str) -> Record | None:
        return await self._upstream.head(key)

    async def list(self, prefix: str, *, revision: int = 0, start: str = "", limit: int = 0) -> Page:
        await (self._reach_past(revision) if revision else self._reach(await self._upstream.latest()))
        return self._index.list(prefix, revision, start, limit)

    async def count(self, prefix: str) -> int:
        await self._reach(await self._upstream.latest())
        return self._index.count(prefix)

    async def watch(self, prefix: str, *, after: int, capacity: int = 1000) -> Watch:
        if self._tasks is None:
            raise Unavailable("the store is not open")
        await self._reach_past(after)
        return self._watchers.add(prefix, after, self._index.events_after(prefix, after), capacity)

    # ---- writes

    async def create(self, key: str, encode: Encode, *, ttl: float = 0) -> Record:
        record = await self._upstream.create(key, encode, ttl=ttl)
        await self._reach(record.revision)
        return record

    async def update(self, key: str, encode: Encode, *, expect: int = 0, ttl: float = 0) -> Record:
        record = await self._upstream.update(key, encode, expect=expect, ttl=ttl)
        await self._reach(record.revision)
        return record

    async def delete(self, key: str, *, expect: int = 0) -> Event:
        event = await self._upstream.delete(key, expect=expect)
        await self._reach(event.revision)
        return event

    async def compact(self, revision: int) -> None:
        await self._upstream.compact(revision)
        await self._reach(revision)
        if revision > self._index.floor:
            self._index.compact(revision)
            self._index.take_dead()
