"""The watch cache: a Store in front of a remote one, which reads and watches the one behind only once, whoever asks.

Reads, past ones too, and watches are answered from memory; writes go through. Four promises are kept:

- a read now is as new as the store behind (`latest`), so it never hides an acknowledged write, whichever server acknowledged it;
- a write through the cache is visible in it when it returns, and so is what a refused write met;
- `head` is what the cache knows, at no cost: a write on its condition fails if it is behind, and `still` asks the store behind;
- if the one watch of the store behind breaks, the cache starts again from a list: history before it is Compacted, and every
  watcher is dropped (Lagged), since what happened in between is not known event by event.

`local.LocalStore` holds such an index itself, so in one process this decorator is left out; it is made for remote backends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from typing import Protocol

from setpoint.kit import logs
from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks
from setpoint.storage.mvcc import Index, Retention
from setpoint.storage.progress import Progress
from setpoint.storage.protocol import (
    Conflict,
    Diagnosed,
    Encode,
    Event,
    Exists,
    Lagged,
    NotFound,
    Only,
    Outdated,
    Page,
    Record,
    StoreError,
    Unavailable,
    Watch,
    never,
)
from setpoint.storage.watchers import Watchers

UPSTREAM_CAPACITY = 50_000
CATCH_UP_SECONDS = 10.0
TRIM_SECONDS = 60.0
log = logs.get_logger("storage.cache")


class Upstream(Protocol):
    """What the cache needs of the store behind: `protocol.Store` has it all, a remote one need not have more.

    `list` and `watch` are asked for everything (the prefix is empty). A watch may return without events when only its
    progress changed, and leave `previous` of its events to the cache.
    """

    async def open(self) -> None: ...
    async def close(self) -> None: ...
    async def latest(self) -> int: ...
    async def list(self, prefix: str) -> Page: ...
    async def watch(self, prefix: str, *, after: int, capacity: int) -> Watch: ...
    async def create(self, key: str, encode: Encode, *, ttl: float) -> Record: ...
    async def update(self, key: str, encode: Encode, *, expect: int, ttl: float) -> Record: ...
    async def delete(self, key: str, *, expect: int) -> Event: ...
    async def compact(self, revision: int) -> None: ...


class Cache:
    """Implements `protocol.Store` over another one; see the module."""

    def __init__(
        self, upstream: Upstream, clock: Clock, *, retention: Retention | None = None, outdated: Outdated = never
    ) -> None:
        self.outdated = outdated
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
        self._tasks.loop("sweep", self._sweep, clock=self._clock)
        await self._filled.wait()

    async def close(self) -> None:
        if self._tasks is not None:
            self._tasks.stop()
            self._tasks = None
            await self._running.aclose()
        self._watchers.end_all()
        for _ in range(2):  # who waits for what was written to show waits in vain
            self._progress.sweep()
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
                        self._take(await watch.next(), watch.progress)
            except Lagged as error:
                log.warning("the watch cache begins anew", why=str(error))

    def _take(self, events: Sequence[Event], progress: int) -> None:
        now, index = self._clock.monotonic(), self._index
        for event in events:
            if event.previous is None:
                event.previous = index.get(event.key)
            if event.record is not None or event.previous is not None:
                index.apply(event, now)
        index.advance(progress)
        self._watchers.publish(events, self._index.revision)
        self._progress.reach(self._index.revision)

    async def _sweep(self) -> None:
        """Nobody waits for longer than twice this for the cache to show what it wrote."""
        while True:
            await self._clock.sleep(CATCH_UP_SECONDS / 2)
            self._progress.sweep()

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
        await self._reach(await self._upstream.latest())

    async def still(self, key: str, revision: int) -> bool:
        await self._reach(await self._upstream.latest())
        now = self._index.get(key)
        return (now.revision if now is not None else 0) == revision

    async def wait_for(self, revision: int, seconds: float) -> bool:
        if revision > self._index.revision:
            with suppress(StoreError):
                await self._upstream.latest()  # so that a remote store's watch is made to tell how far it is
        return await self._progress.wait(revision, seconds)

    async def _reach(self, revision: int) -> None:
        if revision > self._index.revision and not await self._progress.until(revision):
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

    def known(self, key: str) -> Record | None:
        return self._index.get(key)

    def newest(self, prefix: str) -> int:
        return self._index.newest(prefix)

    async def head(self, key: str) -> Record | None:
        return self._index.get(key)

    async def list(self, prefix: str, *, revision: int = 0, start: str = "", limit: int = 0) -> Page:
        await (self._reach_past(revision) if revision else self._reach(await self._upstream.latest()))
        return self._index.list(prefix, revision, start, limit)

    async def count(self, prefix: str) -> int:
        await self._reach(await self._upstream.latest())
        return self._index.count(prefix)

    async def watch(self, prefix: str, *, after: int, capacity: int = 1000, only: Only | None = None) -> Watch:
        if self._tasks is None:
            raise Unavailable("the store is not open")
        await self._reach_past(after)
        return self._watchers.add(prefix, after, self._index.events_after(prefix, after), capacity, only)

    # ---- writes

    async def create(self, key: str, encode: Encode, *, ttl: float = 0) -> Record:
        try:
            record = await self._upstream.create(key, encode, ttl=ttl)
        except Exists:
            await self._learn()
            raise
        return await self._shown(record)

    async def update(self, key: str, encode: Encode, *, expect: int = 0, ttl: float = 0) -> Record:
        try:
            record = await self._upstream.update(key, encode, expect=expect, ttl=ttl)
        except NotFound:
            await self._learn()
            raise
        except Conflict as conflict:
            raise await self._met(conflict) from None
        return await self._shown(record)

    async def delete(self, key: str, *, expect: int = 0) -> Event:
        try:
            event = await self._upstream.delete(key, expect=expect)
        except NotFound:
            await self._learn()
            raise
        except Conflict as conflict:
            raise await self._met(conflict) from None
        await self._progress.until(event.revision)
        return event

    async def _shown(self, record: Record) -> Record:
        """Wait until the cache shows what was written. It was written in any case: there is nothing to raise."""
        await self._progress.until(record.revision)
        seen = self._index.get(record.key)
        if seen is not None and seen.revision == record.revision and seen.selection is None:
            seen.selection = record.selection
        return record

    async def _met(self, conflict: Conflict) -> Conflict:
        """The conflict once the cache shows what it was with."""
        current = conflict.current
        await self._progress.until(current.revision)
        seen = self._index.get(current.key)
        return Conflict(seen) if seen is not None and seen.revision == current.revision else conflict

    async def _learn(self) -> None:
        """See what a refused write has met, so that its next try does not rest on the same old head; as well as may be."""
        with suppress(StoreError):
            await self._progress.wait(await self._upstream.latest(), CATCH_UP_SECONDS)

    async def compact(self, revision: int) -> None:
        await self._upstream.compact(revision)
        await self._reach(revision)
        if revision > self._index.floor:
            self._index.compact(revision)
            self._index.take_dead()
