"""Single writes, and many at once."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from setpoint.storage.protocol import Conflict, Encoded, Exists, NotFound, Record, Store
from setpoint.testing.storage.rig import StoreRig, body, collect, value


def _always(encoded: Encoded, _revision: int) -> Encoded:
    return encoded


class WriteConformance(StoreRig):
    """One counter, typed refusals, no lost updates."""

    # ---- one write

    async def test_create_then_read(self, store: Store) -> None:
        record = await store.create("pods/d/a", body("a"))
        assert record.revision == record.created > 0
        assert record.value == value("a", record.revision)
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
                more = Encoded(b"%d" % (int(head.value) + 1))
                try:
                    await store.update("pods/d/a", partial(_always, more), expect=head.revision)
                    return
                except Conflict:
                    continue

        await asyncio.gather(*(increment() for _ in range(20)))
        assert (await store.get("pods/d/a")).value == b"20"
