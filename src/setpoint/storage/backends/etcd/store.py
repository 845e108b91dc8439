"""What the watch cache asks of etcd: everything at once, everything that happens, writes, and how far the world is.

Single reads of the past are the cache's business; this is no full `protocol.Store`, but an `Upstream`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from typing import Any

from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks
from setpoint.storage.backends.etcd.compacting import SECONDS, Compactor
from setpoint.storage.backends.etcd.connection import PAUSE, Connection, Refusal
from setpoint.storage.backends.etcd.fence import Fence
from setpoint.storage.backends.etcd.layout import Layout
from setpoint.storage.backends.etcd.members import Members
from setpoint.storage.backends.etcd.stand_in import name_of
from setpoint.storage.backends.etcd.watching import EtcdWatch
from setpoint.storage.backends.etcd.writes import Writer, record_of
from setpoint.storage.cache import Cache
from setpoint.storage.encryption.values import Values
from setpoint.storage.mvcc import Retention
from setpoint.storage.protocol import Compacted, Encode, Event, Future, Page, Record, StoreError, Unavailable

_PAGE = 1_000
_OPEN_SECONDS = 10.0
#: how long the watch may be behind what a read has seen before a write of our own makes it tell
_NUDGE_SECONDS = 0.05
_SILENT_SECONDS = 1.0
_HEALTH_SECONDS = 5.0
_PROTOBUF = b"k8s\0"
_STOPS = "the store stops"


class EtcdStore:
    """Implements `cache.Upstream`; see the package."""

    def __init__(self, members: Members, clock: Clock, *, compact_seconds: float = SECONDS, values: Values | None = None) -> None:
        self._values = values or Values()
        self._clock = clock
        self._connection = Connection(members, clock)
        self._layout = Layout(members.root)
        self._fence = Fence(self._connection, self._layout, clock)
        self._writer = Writer(self._connection, self._layout, self._fence, clock, self._values)
        self._compactor = Compactor(self._connection, clock, seconds=compact_seconds)
        self._running = AsyncExitStack()
        self._tasks: Tasks | None = None
        self._watch: EtcdWatch | None = None
        self._asked: asyncio.Future[int] | None = None
        self._ask = asyncio.Event()
        self._behind = asyncio.Event()

    # ---- life

    async def open(self) -> None:
        if self._tasks is not None:
            raise StoreError("the store is open already")
        self._connection.open()
        try:
            await self._connection.range(self._nothing(), patience=_OPEN_SECONDS)
        except StoreError as error:
            await self._connection.close()
            raise Unavailable(_one_line(error)) from error
        self._tasks = await self._running.enter_async_context(Tasks("storage.etcd"))
        loops: dict[str, Callable[[], Any]] = {
            "latest": self._answer_latest,
            "nudge": self._nudge,
            "fence": self._fence.keep,
            "compact": self._compactor.run,
            "health": self._ask_after,
        }
        for name, loop in loops.items():
            self._tasks.loop(name, loop, clock=self._clock)

    async def close(self) -> None:
        if self._tasks is None:
            return
        self._tasks.stop()
        self._tasks = None
        await self._running.aclose()
        if self._watch is not None:
            self._watch.close()
        if self._asked is not None:
            self._asked.set_exception(Unavailable(_STOPS))
            self._asked = None
        await self._connection.close()

    @property
    def trouble(self) -> str:
        return self._connection.trouble

    async def _ask_after(self) -> None:
        """See to it that `trouble` is known though nobody else asks anything."""
        while True:
            await self._clock.sleep(_HEALTH_SECONDS)
            with suppress(StoreError):
                await self._connection.range(self._nothing(), patience=_HEALTH_SECONDS)

    def _open(self) -> None:
        if self._tasks is None:
            raise Unavailable("the store is not open")

    # ---- reads

    def _nothing(self) -> Any:
        """A read of next to nothing: its answer tells the newest revision, by the word of a majority."""
        from aetcd.rpc import rpc_pb2 as pb

        return pb.RangeRequest(key=self._fence.place, count_only=True)

    async def latest(self) -> int:
        """The newest revision of the whole system. All who ask while one question is under way share the next."""
        self._open()
        if self._asked is None:
            self._asked = asyncio.get_running_loop().create_future()
            self._asked.add_done_callback(_heeded)
            self._ask.set()
        return await asyncio.shield(self._asked)

    async def _answer_latest(self) -> None:
        while True:
            await self._ask.wait()
            self._ask.clear()
            asked, self._asked = self._asked, None
            if asked is None:
                continue
            try:
                revision = (await self._connection.range(self._nothing())).header.revision
            except StoreError as error:
                asked.set_exception(Unavailable(str(error)))
                continue
            except BaseException:  # whoever waits must not wait for ever
                asked.set_exception(Unavailable(_STOPS))
                raise
            self._expect()
            asked.set_result(revision)

    async def _nudge(self) -> None:
        """See to it that the watch gets as far as the world is known to be.

        Where others write to the same etcd, it tells nothing of that: a write of our own then shows how far we are. (Requests for
        progress would be cheaper, but before etcd 3.4.25 and 3.5.8 their answers may overtake events.) A watch that does not tell
        even of that hangs with its member, and goes on at another.
        """
        while True:
            await self._behind.wait()
            self._behind.clear()
            watch, wanted = self._watch, self._connection.revision
            await self._clock.sleep(_NUDGE_SECONDS)
            if watch is None or watch.progress >= wanted:
                continue
            try:
                wanted = await self._tell()
            except StoreError:
                await self._clock.sleep(PAUSE)
                continue
            deadline = self._clock.monotonic() + _SILENT_SECONDS
            while watch.progress < wanted and self._clock.monotonic() < deadline:
                await self._clock.sleep(_NUDGE_SECONDS)
            if watch.progress < wanted:
                watch.restart()

    async def _tell(self) -> int:
        """A write that everybody who watches sees and nobody shows; its revision."""
        from aetcd.rpc import rpc_pb2 as pb

        request = pb.PutRequest(key=self._layout.own("progress"))
        response = await self._connection.read(lambda member: (member.kv.Put, request))
        return int(response.header.revision)

    def _expect(self) -> None:
        """Something newer than what the watch has told is known."""
        if self._watch is not None and self._watch.progress < self._connection.revision:
            self._behind.set()

    async def list(self, prefix: str = "") -> Page:
        """Every object, as of one revision; `prefix` is always empty."""
        from aetcd.rpc import rpc_pb2 as pb

        self._open()
        records: list[Record] = []
        start, revision, more = self._layout.root, 0, True
        while more:
            request = pb.RangeRequest(key=start, range_end=self._layout.end, limit=_PAGE, revision=revision)
            try:
                page = await self._connection.range(request)
            except Refusal as error:
                raise Unavailable(str(error)) from error
            revision = revision or page.header.revision
            await self._values.prepare(kv.value for kv in page.kvs)
            for kv in page.kvs:
                if kv.value.startswith(_PROTOBUF):
                    raise Unavailable(
                        f"{kv.key.decode()} in etcd is protobuf, written by another API server: choose another root"
                    )
                if key := self._layout.key(kv.key):
                    records.append(record_of(self._values, key, kv))
            more = page.more
            start = page.kvs[-1].key + b"\0" if page.kvs else start
        return Page(records, revision)

    async def watch(self, prefix: str = "", *, after: int, capacity: int = 0) -> EtcdWatch:
        """Everything after a revision; `prefix` is always empty, and the cache takes what comes at once."""
        self._open()
        self._watch = EtcdWatch(self._connection, self._layout, self._clock, after, self._selection, self._values)
        return self._watch

    def _selection(self, value: bytes) -> Any:
        """What selectors need of an object that is being written here: it need not be worked out again."""
        write = self._writer.under_way.get(name_of(value))
        return write.encoded.selection if write is not None and write.encoded is not None else None

    # ---- writes

    async def create(self, key: str, encode: Encode, *, ttl: float = 0) -> Record:
        self._open()
        record = await self._writer.create(key, encode, ttl)
        self._expect()
        return record

    async def update(self, key: str, encode: Encode, *, expect: int = 0, ttl: float = 0) -> Record:
        self._open()
        record = await self._writer.update(key, encode, expect, ttl)
        self._expect()
        return record

    async def delete(self, key: str, *, expect: int = 0) -> Event:
        self._open()
        event = await self._writer.delete(key, expect)
        self._expect()
        return event

    async def compact(self, revision: int) -> None:
        from aetcd.rpc import rpc_pb2 as pb

        self._open()
        request = pb.CompactionRequest(revision=revision)
        try:
            await self._connection.read(lambda member: (member.kv.Compact, request))
        except Refusal as error:
            if "future revision" in str(error):
                raise Future(self._connection.revision) from error
            if "compacted" in str(error):
                raise Compacted(revision) from error
            raise


def etcd_store(
    members: Members,
    clock: Clock,
    *,
    retention: Retention | None = None,
    compact_seconds: float = SECONDS,
    values: Values | None = None,
) -> Cache:
    """Etcd behind a watch cache, not yet open; `values` are what is sealed in it."""
    values = values or Values()
    upstream = EtcdStore(members, clock, compact_seconds=compact_seconds, values=values)
    return Cache(upstream, clock, retention=retention, outdated=values.outdated)


def _heeded(future: asyncio.Future[int]) -> None:
    """An error that nobody waits for any more is nobody's."""
    if not future.cancelled():
        future.exception()


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
