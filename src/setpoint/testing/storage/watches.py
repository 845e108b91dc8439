"""Watches: order, resumption, slow readers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from setpoint.kit.clock import Clock
from setpoint.storage.protocol import Lagged, Only, Record, Store, Unavailable
from setpoint.testing.storage.rig import StoreRig, body, collect, settle


def _letter(record: Record) -> str:
    return "x" if b'"text":"x"' in record.value else ""


class WatchConformance(StoreRig):
    """Every event once, in order, without a gap."""

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
        before = store.revision

        async def follow() -> None:
            after = before
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

    async def test_watch_of_one_value_is_spared_the_others(self, store: Store) -> None:
        await store.create("pods/d/a", body("x"))
        after = store.revision
        async with await store.watch("pods/", after=after, only=Only(_letter, "x")) as watch:
            await store.create("pods/d/b", body("y"))
            moved = await store.update("pods/d/a", body("y"))
            gone = await store.update("pods/d/b", body("x"))
            events = await collect(watch, gone.revision)
            assert {event.revision for event in events} >= {moved.revision, gone.revision}
            assert watch.progress == gone.revision

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
