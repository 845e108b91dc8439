"""A store in this process: the index in memory, a journal for durability, group commit in between (design, decision 7).

A write's way, all on the event loop but for the journal's own work:

    create/update/delete   judged against the pending head, gets its revision, is encoded, joins the open batch
    flush                  the open batch goes to the journal; writes that come meanwhile open the next one
    committed              index, watchers, waiters learn of the whole batch, in the order of revisions

One batch is under way at a time: while the disk syncs one, the next gathers. So 64 writers cost hardly more syncs than one.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Iterable
from contextlib import AsyncExitStack
from functools import partial

from setpoint.kit import logs
from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks
from setpoint.storage.batch import Batch
from setpoint.storage.journal import Journal, Row, StoredRecord
from setpoint.storage.mvcc import Index, Retention
from setpoint.storage.progress import Progress
from setpoint.storage.protocol import (
    Conflict,
    Describe,
    Encode,
    Event,
    Exists,
    NotFound,
    Only,
    Outdated,
    Page,
    Ready,
    Record,
    StoreError,
    Unavailable,
    Watch,
    always,
    never,
)
from setpoint.storage.watchers import Watchers

log = logs.get_logger("storage.local")

MAX_PENDING = 20_000  # writes that may wait for the disk; more are refused
UPKEEP_SECONDS = 60.0
EXPIRE_AT_ONCE = 500
STUCK_SECONDS = 5.0  # a commit that takes longer is trouble
CHECK_SECONDS = 1.0  # between two looks whether a disk that failed takes writes again


class LocalStore:
    """Implements `protocol.Store` over a Journal; see the module."""

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        *,
        retention: Retention | None = None,
        describe: Describe | None = None,
        outdated: Outdated = never,
        ready: Ready = always,
    ) -> None:
        self.outdated = outdated
        self._ready = ready
        self._journal = journal
        self._clock = clock
        self._describe = describe
        self._index = Index(retention)
        self._watchers = Watchers()
        self._running = AsyncExitStack()
        self._tasks: Tasks | None = None
        self._next = 1
        self._erased_to = 0
        self._heads: dict[str, tuple[Event, Batch]] = {}
        self._batch = Batch()
        self._under_way: Batch | None = None
        self._flush_due = False
        self._idle = asyncio.Event()
        self._progress = Progress(clock)
        self._expiries: list[tuple[float, str, int]] = []
        self._expiry_changed = asyncio.Event()
        self._failure = ""
        self._flushed_at = 0.0

    # ---- life

    @property
    def trouble(self) -> str:
        """Why commits fail, or how long one has been waiting for the disk."""
        waited = self._clock.monotonic() - self._flushed_at if self._under_way is not None else 0.0
        return f"a commit has been waiting for the disk for {waited:.0f} s" if waited > STUCK_SECONDS else self._failure

    async def open(self) -> None:
        if self._tasks is not None:
            raise StoreError("the store is open already")
        recovered = await self._journal.open()
        self._restore(recovered.floor, recovered.rows)
        self._tasks = await self._running.enter_async_context(Tasks("storage"))
        self._tasks.loop("upkeep", self._upkeep, clock=self._clock)

    def _restore(self, floor: int, rows: Iterable[Row]) -> None:
        self._index.replay(floor, map(self._recall, rows), self._clock.monotonic())
        heapq.heapify(self._expiries)
        self._next = self._index.revision + 1
        self._erased_to = floor
        self._watchers.revision = self._index.revision
        self._progress.reach(self._index.revision)

    def _recall(self, row: Row) -> tuple[str, int, Record | None]:
        revision, key, created, expires, value = row
        if value is None:
            return key, revision, None
        if expires:
            self._expiries.append((expires, key, revision))
        return key, revision, self._stored(key, value, revision, created)

    def _stored(self, key: str, value: bytes, revision: int, created: int) -> Record:
        if self._describe is None:
            return Record(key, value, revision, created)
        return StoredRecord(key, value, revision, created, self._describe)

    async def close(self) -> None:
        if self._tasks is None:
            return
        self._tasks.stop()
        self._tasks = None
        await self._running.aclose()
        while self._under_way is not None or self._batch.rows:
            self._idle.clear()
            await self._idle.wait()
        self._watchers.end_all()
        await self._journal.close()

    # ---- reads

    @property
    def revision(self) -> int:
        return self._index.revision

    async def latest(self) -> int:
        return self._index.revision

    async def get(self, key: str, *, revision: int = 0) -> Record:
        found = self._index.get_at(key, revision) if revision else self._index.get(key)
        if found is None:
            raise NotFound(key)
        return found

    def known(self, key: str) -> Record | None:
        return self._index.get(key)

    def newest(self, prefix: str) -> int:
        return self._index.newest(prefix)

    async def head(self, key: str) -> Record | None:
        pending = self._heads.get(key)
        return pending[0].record if pending is not None else self._index.get(key)

    async def list(self, prefix: str, *, revision: int = 0, start: str = "", limit: int = 0) -> Page:
        return self._index.list(prefix, revision, start, limit)

    async def count(self, prefix: str) -> int:
        return self._index.count(prefix)

    async def watch(self, prefix: str, *, after: int, capacity: int = 1000, only: Only | None = None) -> Watch:
        if self._tasks is None:
            raise Unavailable("the store is not open")
        return self._watchers.add(prefix, after, self._index.events_after(prefix, after), capacity, only)

    async def wait_for(self, revision: int, seconds: float) -> bool:
        return await self._progress.wait(revision, seconds)

    async def settle(self, key: str) -> None:
        pending = self._heads.get(key)
        if pending is not None:
            await pending[1].settled()

    async def still(self, key: str, revision: int) -> bool:
        pending = self._heads.get(key)
        now = pending[0].record if pending is not None else self._index.get(key)
        if (now.revision if now is not None else 0) != revision:
            return False
        if pending is not None:
            await pending[1].settled()
        return True

    # ---- writes

    async def create(self, key: str, encode: Encode, *, ttl: float = 0) -> Record:
        current, pending = self._judge(key)
        if current is not None:
            if pending is not None:
                await pending.settled()
            raise Exists(key)
        record, batch = self._put(key, encode, None, ttl)
        await batch.settled()
        return record

    async def update(self, key: str, encode: Encode, *, expect: int = 0, ttl: float = 0) -> Record:
        current, pending = self._judge(key)
        if current is None or expect not in (0, current.revision):
            raise await self._unexpected(key, current, pending)
        record, batch = self._put(key, encode, current, ttl)
        await batch.settled()
        return record

    async def delete(self, key: str, *, expect: int = 0) -> Event:
        current, pending = self._judge(key)
        if current is None or expect not in (0, current.revision):
            raise await self._unexpected(key, current, pending)
        event = Event(key, self._next, None, current)
        await self._enqueue(event, Row(event.revision, key, 0, 0, None)).settled()
        return event

    def _judge(self, key: str) -> tuple[Record | None, Batch | None]:
        """The head that a write is judged by, and the batch that must become durable before anyone may know of it.

        A write that is as it should be awaits nothing after this, so it is judged by this very head.
        """
        if self._tasks is None:
            raise Unavailable("the store is not open")
        if len(self._batch.rows) >= MAX_PENDING:
            raise Unavailable("too many writes wait for the disk")
        pending = self._heads.get(key)
        if pending is None:
            return self._index.get(key), None
        return pending[0].record, pending[1]

    @staticmethod
    async def _unexpected(key: str, current: Record | None, pending: Batch | None) -> StoreError:
        """Why a write is refused, once the head that it was judged by is durable."""
        if pending is not None:
            await pending.settled()
        return NotFound(key) if current is None else Conflict(current)

    def _put(self, key: str, encode: Encode, previous: Record | None, ttl: float) -> tuple[Record, Batch]:
        """Let a write join the open batch."""
        self._ready(key)
        revision = self._next
        encoded = encode(revision)
        created = revision if previous is None else previous.created
        record = Record(key, encoded.value, revision, created, encoded.selection)
        expires = self._clock.now() + ttl if ttl else 0
        return record, self._enqueue(Event(key, revision, record, previous), Row(revision, key, created, expires, encoded.value))

    def _enqueue(self, event: Event, row: Row) -> Batch:
        self._next = event.revision + 1
        batch = self._batch
        batch.events.append(event)
        batch.rows.append(row)
        self._heads[event.key] = (event, batch)
        self._flush_soon()
        return batch

    def _flush_soon(self) -> None:
        """Flush after the tasks that are ready now: they may have writes for the same batch."""
        if not self._flush_due and self._under_way is None:
            self._flush_due = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_due = False
        if self._under_way is not None or not self._batch.rows:
            return
        batch, self._batch = self._batch, Batch()
        self._under_way = batch
        self._flushed_at = self._clock.monotonic()
        self._journal.append(batch.rows, partial(self._committed, batch))

    def _committed(self, batch: Batch, error: StoreError | None) -> None:
        self._under_way = None
        if error is None:
            self._failure = ""
            self._show(batch)
        else:
            self._fail(batch, error)
        if self._batch.rows:
            self._flush_soon()
        else:
            self._idle.set()

    def _show(self, batch: Batch) -> None:
        now = self._clock.monotonic()
        apply, heads = self._index.apply, self._heads
        for event, row in zip(batch.events, batch.rows, strict=True):
            apply(event, now)
            if heads[event.key][0] is event:
                del heads[event.key]
            if row.expires:
                self._expire_later(row)
        self._watchers.publish(batch.events, self._index.revision)
        batch.answer(None)
        self._progress.reach(self._index.revision)

    def _fail(self, batch: Batch, error: StoreError) -> None:
        """Everything pending was judged by a head that never was, or may have been: all of it fails."""
        log.error("commit failed", error=str(error), writes=len(batch.rows), judged_by_it=len(self._batch.rows))
        self._failure = str(error)
        self._expiry_changed.set()
        judged_by_it, self._batch = self._batch, Batch()
        self._heads.clear()
        batch.answer(error)
        judged_by_it.answer(error)

    # ---- upkeep

    async def compact(self, revision: int) -> None:
        self._index.compact(revision)
        self._erase_dead()

    def _expire_later(self, row: Row) -> None:
        heapq.heappush(self._expiries, (row.expires, row.key, row.revision))
        if self._expiries[0][2] == row.revision:
            self._expiry_changed.set()

    async def _upkeep(self) -> None:
        """Expire, trim, erase, and after a failure look whether it has passed, for ever."""
        trim_at = self._clock.monotonic() + UPKEEP_SECONDS
        while True:
            delay = trim_at - self._clock.monotonic()
            if self._failure:
                delay = min(delay, CHECK_SECONDS)
            if self._expiries:
                delay = min(delay, self._expiries[0][0] - self._clock.now())
            self._expiry_changed.clear()
            await self._clock.wait(self._expiry_changed, delay)
            if self._failure:
                await self._check()
            await self._expire_due()
            if self._clock.monotonic() >= trim_at:
                trim_at = self._clock.monotonic() + UPKEEP_SECONDS
                self._index.trim(self._clock.monotonic())
                self._erase_dead()

    async def _check(self) -> None:
        """See whether the disk takes writes again; nobody else may be writing."""
        answer: asyncio.Future[StoreError | None] = asyncio.get_running_loop().create_future()
        self._journal.check(lambda error: None if answer.done() else answer.set_result(error))
        error = await answer
        if error is None and self._failure:
            log.warning("commits succeed again", after=self._failure)
        self._failure = str(error or "")

    async def _expire_due(self) -> None:
        due: list[tuple[float, str, int]] = []
        while self._expiries and self._expiries[0][0] <= self._clock.now() and len(due) < EXPIRE_AT_ONCE:
            due.append(heapq.heappop(self._expiries))
        deleted: Batch | None = None
        try:
            for _, key, revision in due:
                current, _pending = self._judge(key)
                if current is not None and current.revision == revision:  # else written anew or deleted since
                    deleted = self._enqueue(Event(key, self._next, None, current), Row(self._next, key, 0, 0, None))
            if deleted is not None:
                await deleted.settled()
        except Unavailable:
            for expiry in due:
                heapq.heappush(self._expiries, expiry)
            raise

    def _erase_dead(self) -> None:
        dead = self._index.take_dead()
        if dead or self._index.floor != self._erased_to:
            self._erased_to = self._index.floor
            self._journal.erase(dead, self._erased_to)
