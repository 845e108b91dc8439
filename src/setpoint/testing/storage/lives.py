"""Time to live, waiting, and a second life of the same data."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from setpoint.kit.clock import Clock
from setpoint.storage.protocol import Compacted, Store
from setpoint.testing.storage.rig import StoreRig, body, elapse, keys, settle, until


class LifeConformance(StoreRig):
    """What time and restarts do."""

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
            await until(lambda: store.count("events/"), 0, self.patience)

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
