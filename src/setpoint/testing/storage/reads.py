"""Lists, pages, the past."""

from __future__ import annotations

import pytest

from setpoint.storage.protocol import Compacted, Future, Store
from setpoint.testing.storage.rig import StoreRig, body, keys, value


class ReadConformance(StoreRig):
    """Snapshots are exact."""

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

    async def test_newest_changes_with_its_collection_alone(self, store: Store) -> None:
        async def newest(prefix: str) -> int:
            await store.list(prefix)  # so that everything is shown here
            return store.newest(prefix)

        assert await newest("pods/d/") == 0
        created = await store.create("pods/d/a", body("a"))
        await store.create("nodes/n1", body("n"))
        assert await newest("pods/d/") == await newest("pods/") == created.revision
        updated = await store.update("pods/d/a", body("b"))
        assert await newest("pods/e/") == updated.revision
        deleted = await store.delete("pods/d/a")
        assert await newest("pods/") == deleted.revision

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
        assert [record.value for record in third.records] == [value("pods/e/a", third.records[0].revision)]
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
