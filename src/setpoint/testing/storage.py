"""What every store must do: derive from `StoreConformance`, say how your store is built, and let pytest collect it.

    class TestMine(StoreConformance):
        def build(self, directory, clock):
            return Subject(MyStore(directory, clock))

Give `faults` (a `FaultyJournal` under your store) to have group commit and its failures tested too; set `persistent` to have
the store opened a second time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from setpoint.kit.clock import Clock, RealClock, VirtualClock
from setpoint.storage.journal import Done, Journal, Recovered, Row
from setpoint.storage.protocol import (
    Compacted,
    Conflict,
    Encode,
    Encoded,
    Event,
    Exists,
    Future,
    Lagged,
    NotFound,
    Record,
    Store,
    StoreError,
    Unavailable,
    Watch,
)


class FaultyJournal:
    """A Journal that can hold its commits back, or fail them."""

    def __init__(self, inner: Journal) -> None:
        self.inner = inner
        self.batches: list[int] = []
        self._held: deque[tuple[Sequence[Row], Done]] | None = None
        self._failures = 0

    def hold(self) -> None:
        self._held = deque()

    def release(self) -> None:
        held, self._held = self._held, None
        for rows, done in held or ():
            self.append(rows, done)

    def fail_next(self, count: int = 1) -> None:
        self._failures = count

    async def open(self) -> Recovered:
        return await self.inner.open()

    def append(self, rows: Sequence[Row], done: Done) -> None:
        if self._held is not None:
            self._held.append((rows, done))
            return
        self.batches.append(len(rows))
        if self._failures:
            self._failures -= 1
            asyncio.get_running_loop().call_soon(done, Unavailable("injected failure"))
        else:
            self.inner.append(rows, done)

    def erase(self, revisions: Sequence[int], floor: int) -> None:
        self.inner.erase(revisions, floor)

    async def close(self) -> None:
        await self.inner.close()


@dataclass(frozen=True, slots=True)
class Subject:
    """A store to test, and the journal below it if its commits can be held and failed."""

    store: Store
    faults: FaultyJournal | None = None


def body(text: str) -> Encode:
    """An `encode` whose bytes tell the text and the revision."""
    return lambda revision: Encoded(f"{text}@{revision}".encode(), selection=text)


async def settle() -> None:
    """Let every ready task run (a few rounds of the loop)."""
    for _ in range(10):
        await asyncio.sleep(0)


async def collect(watch: Watch, until: int) -> list[Event]:
    """Read `watch` up to the revision `until`."""
    events: list[Event] = []
    while not events or events[-1].revision < until:
        events += await watch.next()
    return events


def keys(records: Iterable[Record]) -> list[str]:
    return [record.key for record in records]


class StoreConformance:
    """Derive and implement `build`."""

    persistent = False
    virtual_time = False

    def build(self, directory: Path, clock: Clock) -> Subject:
        """The store over the data in `directory`, not yet opened."""
        raise NotImplementedError

    @pytest.fixture
    def clock(self) -> Clock:
        return VirtualClock() if self.virtual_time else RealClock()

    @pytest.fixture
    async def subject(self, tmp_path: Path, clock: Clock) -> AsyncIterator[Subject]:
        async with self.opened(tmp_path, clock) as subject:
            yield subject

    @pytest.fixture
    def store(self, subject: Subject) -> Store:
        return subject.store

    @pytest.fixture
    def faults(self, subject: Subject) -> FaultyJournal:
        if subject.faults is None:
            pytest.skip("commits of this store cannot be held")
        return subject.faults

    @asynccontextmanager
    async def opened(self, directory: Path, clock: Clock) -> AsyncIterator[Subject]:
        subject = self.build(directory, clock)
        await subject.store.open()
        try:
            yield subject
        finally:
            if subject.faults is not None:
                subject.faults.release()
            await subject.store.close()

    # ---- one write

    async def test_create_then_read(self, store: Store) -> None:
        record = await store.create("pods/d/a", body("a"))
        assert record.revision == record.created > 0
        assert record.value == f"a@{record.revision}".encode()
        assert record.selection == "a"
        assert await store.get("pods/d/a") == record
        assert store.revision == record.revision == await store.latest()

    async def test_update_keeps_created(self, store: Store) -> None:
        first = await store.create("pods/d/a", body("a"))
        second = await store.update("pods/d/a", body("b"), expect=first.revision)
        assert second.created == first.created < second.revision

    async def test_delete_answers_what_was_there(self, store: Store) -> None:
        record = await store.create("pods/d/a", body("a"))
        event = await store.delete("pods/d/a", expect=record.revision)
        assert event.record is None
        assert event.previous is not None
        assert event.previous.value == record.value
        assert event.revision == store.revision > record.revision
        with pytest.raises(NotFound):
            await store.get("pods/d/a")

    async def test_refusals(self, store: Store) -> None:
        record = await store.create("pods/d/a", body("a"))
        with pytest.raises(Exists):
            await store.create("pods/d/a", body("b"))
        with pytest.raises(NotFound):
            await store.update("pods/d/b", body("b"))
        with pytest.raises(NotFound):
            await store.delete("pods/d/b")
        for write in (store.update("pods/d/a", body("b"), expect=record.revision + 1), store.delete("pods/d/a", expect=7_777)):
            with pytest.raises(Conflict) as refusal:
                await write
            assert refusal.value.current == record
        assert store.revision == record.revision

    async def test_encode_that_raises_changes_nothing(self, store: Store) -> None:
        def refuse(revision: int) -> Encoded:
            raise ValueError(revision)

        before = store.revision
        with pytest.raises(ValueError, match=r"\d"):
            await store.create("pods/d/a", refuse)
        assert await store.head("pods/d/a") is None
        assert store.revision == before

    async def test_a_name_can_be_used_again(self, store: Store) -> None:
        first = await store.create("pods/d/a", body("a"))
        await store.delete("pods/d/a")
        second = await store.create("pods/d/a", body("b"))
        assert second.created == second.revision > first.revision + 1
        assert (await store.get("pods/d/a", revision=first.revision)).value == first.value
        with pytest.raises(NotFound):
            await store.get("pods/d/a", revision=first.revision + 1)

    # ---- concurrent writes

    async def test_revisions_are_used_once_and_in_order(self, store: Store) -> None:
        async with await store.watch("", after=store.revision) as watch:
            records = await asyncio.gather(*(store.create(f"pods/d/{n}", body("x")) for n in range(50)))
            events = await collect(watch, max(record.revision for record in records))
        assert len({record.revision for record in records}) == 50
        revisions = [event.revision for event in events]
        assert revisions == sorted(set(revisions))
        assert {event.key for event in events} == {record.key for record in records}

    async def test_one_of_many_writers_wins(self, store: Store) -> None:
        outcome = await asyncio.gather(*(store.create("pods/d/a", body(str(n))) for n in range(20)), return_exceptions=True)
        assert sum(isinstance(result, Record) for result in outcome) == 1
        assert sum(isinstance(result, Exists) for result in outcome) == 19

    async def test_increments_are_not_lost(self, store: Store) -> None:
        await store.create("pods/d/a", lambda _: Encoded(b"0"))

        async def increment() -> None:
            while True:
                head = await store.head("pods/d/a")
                assert head is not None
                value = b"%d" % (int(head.value) + 1)
                try:
                    await store.update("pods/d/a", lambda _, value=value: Encoded(value), expect=head.revision)  # type: ignore[misc]
                    return
                except Conflict:
                    continue

        await asyncio.gather(*(increment() for _ in range(20)))
        assert (await store.get("pods/d/a")).value == b"20"

    # ---- group commit

    async def test_nothing_is_shown_before_it_is_durable(self, store: Store, faults: FaultyJournal) -> None:
        before = store.revision
        async with await store.watch("", after=before) as watch:
            faults.hold()
            write = asyncio.ensure_future(store.create("pods/d/a", body("a")))
            await settle()
            assert not write.done()
            assert store.revision == before
            assert not watch.ready()
            with pytest.raises(NotFound):
                await store.get("pods/d/a")
            head = await store.head("pods/d/a")
            assert head is not None
            faults.release()
            assert (await write).revision == head.revision
            assert keys([head]) == [event.key for event in await watch.next()]

    async def test_writes_are_judged_by_what_is_pending(self, store: Store, faults: FaultyJournal) -> None:
        faults.hold()
        first = asyncio.ensure_future(store.create("pods/d/a", body("a")))
        await settle()
        head = await store.head("pods/d/a")
        assert head is not None
        second = asyncio.ensure_future(store.update("pods/d/a", body("b"), expect=head.revision))
        refused = [
            asyncio.ensure_future(store.create("pods/d/a", body("c"))),
            asyncio.ensure_future(store.update("pods/d/a", body("d"), expect=head.revision)),
        ]
        await settle()
        gone = asyncio.ensure_future(store.delete("pods/d/a"))
        missing = asyncio.ensure_future(store.update("pods/d/a", body("e")))
        await settle()
        assert not any(task.done() for task in (first, second, gone, missing, *refused))
        faults.release()
        assert (await second).revision == (await first).revision + 1
        with pytest.raises(Exists):
            await refused[0]
        with pytest.raises(Conflict):
            await refused[1]
        assert (await gone).revision == (await second).revision + 1
        with pytest.raises(NotFound):
            await missing

    async def test_writes_that_wait_share_a_commit(self, store: Store, faults: FaultyJournal) -> None:
        faults.batches.clear()
        await asyncio.gather(*(store.create(f"pods/d/{n}", body("x")) for n in range(40)))
        assert faults.batches == [40]

    async def test_a_failed_commit_fails_all_that_was_judged_by_it(self, store: Store, faults: FaultyJournal) -> None:
        kept = await store.create("pods/d/kept", body("a"))
        async with await store.watch("", after=store.revision) as watch:
            faults.hold()
            first = asyncio.ensure_future(store.create("pods/d/a", body("a")))
            await settle()
            followers = [
                asyncio.ensure_future(store.update("pods/d/a", body("b"))),
                asyncio.ensure_future(store.create("pods/d/a", body("c"))),
                asyncio.ensure_future(store.settle("pods/d/a")),
            ]
            await settle()
            faults.fail_next()
            faults.release()
            results = await asyncio.gather(first, *followers, return_exceptions=True)
            assert [type(result) for result in results] == [Unavailable] * 4
            assert await store.head("pods/d/a") is None
            assert store.revision == kept.revision
            again = await store.create("pods/d/a", body("again"))
            assert again.revision > kept.revision + 2, "revisions of failed writes are not used again"
            assert [event.revision for event in await watch.next()] == [again.revision]

    async def test_settle_waits_for_what_head_showed(self, store: Store, faults: FaultyJournal) -> None:
        faults.hold()
        write = asyncio.ensure_future(store.create("pods/d/a", body("a")))
        await settle()
        head = await store.head("pods/d/a")
        assert head is not None
        waiting = asyncio.ensure_future(store.settle("pods/d/a"))
        await store.settle("pods/d/other")
        await settle()
        assert not waiting.done()
        faults.release()
        await waiting
        assert store.revision >= head.revision
        await write
        faults.hold()
        deletion = asyncio.ensure_future(store.delete("pods/d/a"))
        await settle()
        assert await store.head("pods/d/a") is None
        waiting = asyncio.ensure_future(store.settle("pods/d/a"))
        await settle()
        assert not waiting.done()
        faults.release()
        await waiting
        assert store.revision == (await deletion).revision

    async def test_a_cancelled_writer_disturbs_nobody(self, store: Store, faults: FaultyJournal) -> None:
        faults.hold()
        first = asyncio.ensure_future(store.create("pods/d/a", body("a")))
        second = asyncio.ensure_future(store.create("pods/d/b", body("b")))
        await settle()
        first.cancel()
        await settle()
        faults.release()
        await second
        assert (await store.get("pods/d/a")).revision + 1 == (await second).revision

    # ---- lists

    async def fill(self, store: Store) -> int:
        for key in ("pods/d/a", "pods/d/b", "pods/d/c", "pods/e/a", "podtemplates/d/a", "pods.metrics/d/a", "nodes/n1"):
            await store.create(key, body(key))
        return store.revision

    async def test_list_by_prefix_in_order(self, store: Store) -> None:
        revision = await self.fill(store)
        page = await store.list("pods/")
        assert keys(page.records) == ["pods/d/a", "pods/d/b", "pods/d/c", "pods/e/a"]
        assert (page.revision, page.more, page.remaining) == (revision, False, 0)
        assert keys((await store.list("pods/d/")).records) == ["pods/d/a", "pods/d/b", "pods/d/c"]
        assert keys((await store.list("nodes/")).records) == ["nodes/n1"]
        assert list((await store.list("secrets/")).records) == []
        assert len((await store.list("")).records) == 7
        assert await store.count("pods/") == 4
        assert await store.count("secrets/") == 0

    async def test_pages_are_one_snapshot(self, store: Store) -> None:
        revision = await self.fill(store)
        first = await store.list("pods/", limit=2)
        assert keys(first.records) == ["pods/d/a", "pods/d/b"]
        assert (first.more, first.remaining) == (True, 2)
        await store.delete("pods/d/c")
        await store.update("pods/e/a", body("new"))
        await store.create("pods/d/z", body("z"))
        start = first.records[-1].key + "\0"
        second = await store.list("pods/", revision=first.revision, start=start, limit=1)
        assert keys(second.records) == ["pods/d/c"]
        assert (second.revision, second.more, second.remaining) == (revision, True, 1)
        third = await store.list("pods/", revision=revision, start="pods/d/c\0", limit=10)
        assert [record.value for record in third.records] == [f"pods/e/a@{third.records[0].revision}".encode()]
        assert (third.more, third.remaining) == (False, 0)

    async def test_every_past_revision_can_be_read(self, store: Store) -> None:
        snapshots: dict[int, dict[str, bytes]] = {}
        state: dict[str, bytes] = {}
        for n in range(30):
            key = f"pods/d/{n % 7}"
            if n % 5 == 4 and key in state:
                await store.delete(key)
                del state[key]
            else:
                write = store.update if key in state else store.create
                state[key] = (await write(key, body(str(n)))).value
            snapshots[store.revision] = dict(state)
        for revision, expected in snapshots.items():
            page = await store.list("pods/", revision=revision)
            assert {record.key: record.value for record in page.records} == expected
            assert page.revision == revision
            assert len((await store.list("pods/", revision=revision, limit=1)).records) == min(1, len(expected))

    async def test_future_and_compacted(self, store: Store) -> None:
        first = await store.create("pods/d/a", body("a"))
        second = await store.update("pods/d/a", body("b"))
        await store.create("pods/d/b", body("b"))
        newest = store.revision
        for read in (store.get("pods/d/a", revision=newest + 1), store.list("pods/", revision=newest + 1)):
            with pytest.raises(Future) as future:
                await read
            assert future.value.current == newest
        with pytest.raises(Future):
            await store.watch("pods/", after=newest + 1)
        await store.compact(second.revision)
        for read in (store.get("pods/d/a", revision=first.revision), store.list("pods/", revision=first.revision)):
            with pytest.raises(Compacted) as compacted:
                await read
            assert compacted.value.oldest == second.revision
        with pytest.raises(Compacted):
            await store.watch("pods/", after=first.revision)
        assert (await store.get("pods/d/a", revision=second.revision)).value == second.value
        assert len((await store.list("pods/")).records) == 2

    # ---- watches

    async def test_watch_tells_old_and_new(self, store: Store) -> None:
        async with await store.watch("pods/", after=store.revision) as watch:
            first = await store.create("pods/d/a", body("a"))
            await store.create("nodes/n", body("n"))
            second = await store.update("pods/d/a", body("b"))
            await store.delete("pods/d/a")
            events = await collect(watch, store.revision)
        told = [(e.record and e.record.revision, e.previous and e.previous.revision) for e in events]
        assert told == [(first.revision, None), (second.revision, first.revision), (None, second.revision)]

    async def test_watch_resumes_without_gap_or_repetition(self, store: Store) -> None:
        revisions = [(await store.create(f"pods/d/{n:02}", body("x"))).revision for n in range(20)]
        for after in (revisions[0], revisions[7], revisions[-1]):
            async with await store.watch("pods/", after=after) as watch:
                seen = [event.revision for event in watch.ready()]
                last = (await store.update("pods/d/00", body(str(after)))).revision
                seen += [event.revision for event in await collect(watch, last)]
                assert seen == [revision for revision in revisions if revision > after] + seen[seen.index(last) :]
                assert seen[-1] == last
            revisions.append(last)

    async def test_watch_under_a_stream_of_writes(self, store: Store) -> None:
        seen: list[int] = []

        async def follow() -> None:
            after = 0
            while len(seen) < 200:
                async with await store.watch("pods/", after=after) as watch:
                    for _ in range(3):
                        if len(seen) < 200:
                            seen.extend(event.revision for event in await watch.next())
                after = seen[-1]

        async def write(writer: int) -> None:
            for n in range(50):
                await store.create(f"pods/{writer}/{n}", body("x"))

        async with asyncio.timeout(20):
            await asyncio.gather(follow(), *(write(n) for n in range(4)))
        assert len(seen) == 200
        assert seen == sorted(set(seen))

    async def test_watch_of_one_object(self, store: Store) -> None:
        async with await store.watch("pods/d/a", after=store.revision) as watch:
            await store.create("pods/d/b", body("b"))
            await store.create("pods/d/a", body("a"))
            assert [event.key for event in await watch.next()] == ["pods/d/a"]

    async def test_progress(self, store: Store) -> None:
        start = store.revision
        async with await store.watch("pods/", after=start) as watch:
            assert watch.progress == start
            other = await store.create("nodes/n", body("n"))
            assert watch.progress == other.revision
            record = await store.create("pods/d/a", body("a"))
            assert watch.progress == other.revision
            await watch.next()
            assert watch.progress == record.revision

    async def test_a_watcher_that_does_not_read_is_dropped(self, store: Store) -> None:
        async with await store.watch("pods/", after=store.revision, capacity=3) as slow:
            async with await store.watch("pods/", after=store.revision) as quick:
                for n in range(5):
                    await store.create(f"pods/d/{n}", body("x"))
                assert len(await collect(quick, store.revision)) == 5
            with pytest.raises(Lagged):
                await collect(slow, store.revision)

    async def test_cancelling_next_loses_nothing(self, store: Store) -> None:
        async with await store.watch("pods/", after=store.revision) as watch:
            waiting = asyncio.ensure_future(watch.next())
            await settle()
            waiting.cancel()
            record = await store.create("pods/d/a", body("a"))
            assert [event.revision for event in await watch.next()] == [record.revision]

    async def test_close_ends_watches(self, tmp_path: Path, clock: Clock) -> None:
        async with self.opened(tmp_path / "other", clock) as subject:
            watch = await subject.store.watch("pods/", after=subject.store.revision)
            waiting = asyncio.ensure_future(watch.next())
            await settle()
        with pytest.raises(Unavailable):
            await waiting
        with pytest.raises(Unavailable):
            await subject.store.create("pods/d/a", body("a"))

    # ---- time

    async def test_wait_for(self, store: Store, clock: Clock) -> None:
        record = await store.create("pods/d/a", body("a"))
        assert await store.wait_for(record.revision, 0)
        waiting = asyncio.ensure_future(store.wait_for(record.revision + 1, 30))
        await settle()
        assert not waiting.done()
        await store.create("pods/d/b", body("b"))
        assert await waiting
        late = asyncio.ensure_future(store.wait_for(record.revision + 50, 0.05))
        await elapse(clock, 0.1)
        assert not await late

    async def test_what_has_a_time_to_live_vanishes(self, store: Store, clock: Clock) -> None:
        record = await store.create("events/d/short", body("a"), ttl=0.2)
        await store.create("events/d/renewed", body("b"), ttl=0.2)
        await store.update("events/d/renewed", body("c"), ttl=300)
        await store.create("events/d/lasting", body("d"), ttl=0.2)
        await store.update("events/d/lasting", body("e"))
        async with await store.watch("events/", after=store.revision) as watch:
            await elapse(clock, 0.4)
            [event] = await watch.next()
        assert (event.key, event.record) == ("events/d/short", None)
        assert event.previous is not None
        assert event.previous.revision == record.revision
        assert keys((await store.list("events/")).records) == ["events/d/lasting", "events/d/renewed"]

    # ---- a second life

    async def test_reopen(self, tmp_path: Path, clock: Clock) -> None:
        if not self.persistent:
            pytest.skip("this store forgets")
        directory = tmp_path / "data"
        async with self.opened(directory, clock) as subject:
            kept = await subject.store.create("pods/d/a", body("a"))
            changed = await subject.store.update("pods/d/a", body("b"))
            await subject.store.create("events/d/e", body("e"), ttl=0.2)
            await subject.store.create("pods/d/gone", body("x"))
            last = await subject.store.delete("pods/d/gone")
        async with self.opened(directory, clock) as subject:
            store = subject.store
            assert store.revision == last.revision
            found = await store.get("pods/d/a")
            assert (found.value, found.created) == (changed.value, kept.revision)
            assert (await store.create("pods/d/n", body("n"))).revision > last.revision, "revisions are never used again"
            await elapse(clock, 0.4)
            await until(lambda: store.count("events/"), 0)

    async def test_reopen_after_compaction(self, tmp_path: Path, clock: Clock) -> None:
        if not self.persistent:
            pytest.skip("this store forgets")
        directory = tmp_path / "data"
        async with self.opened(directory, clock) as subject:
            for n in range(20):
                await subject.store.create(f"pods/d/{n}", body("x"))
            for n in range(0, 20, 2):
                await subject.store.delete(f"pods/d/{n}")
            last = subject.store.revision
            await subject.store.compact(last)
        async with self.opened(directory, clock) as subject:
            assert subject.store.revision == last
            assert len((await subject.store.list("pods/")).records) == 10
            with pytest.raises(Compacted):
                await subject.store.list("pods/", revision=last - 1)


async def elapse(clock: Clock, seconds: float) -> None:
    """Let time pass on whichever clock."""
    if isinstance(clock, VirtualClock):
        await clock.advance(seconds)
    else:
        await clock.sleep(seconds)


async def until(read: Callable[[], object], expected: object) -> None:
    """Read again and again until the answer is as expected, for some seconds."""
    for _ in range(100):
        answer = read()
        if asyncio.iscoroutine(answer):
            answer = await answer
        if answer == expected:
            return
        await asyncio.sleep(0.02)
    raise StoreError(f"expected {expected!r}, last read {answer!r}")
