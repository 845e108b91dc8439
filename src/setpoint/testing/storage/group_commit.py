"""What is pending, what is durable, and what becomes of it when a commit fails."""

from __future__ import annotations

import asyncio

import pytest

from setpoint.storage.protocol import Conflict, Exists, NotFound, Store, Unavailable
from setpoint.testing.storage.faults import FaultyJournal
from setpoint.testing.storage.rig import StoreRig, body, keys, settle


class GroupCommitConformance(StoreRig):
    """Needs `faults`; skipped without."""

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
