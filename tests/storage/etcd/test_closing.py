"""Nobody waits for a store that has stopped. No etcd is needed for that."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from setpoint.kit.clock import VirtualClock
from setpoint.kit.tasks import Tasks
from setpoint.storage.backends.etcd.members import Members
from setpoint.storage.backends.etcd.store import EtcdStore
from setpoint.storage.protocol import Unavailable


async def test_who_asks_for_the_newest_revision_hears_that_the_store_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    store = EtcdStore(Members(("127.0.0.1:1",)), VirtualClock())
    asked = asyncio.Event()

    async def never(*_: Any, **__: Any) -> None:
        asked.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(store._connection, "range", never)
    monkeypatch.setattr(store, "_nothing", lambda: None)
    store._tasks = await store._running.enter_async_context(Tasks("test"))
    store._tasks.start("latest", store._answer_latest())
    under_way = asyncio.ensure_future(store.latest())
    await asked.wait()
    next_turn = asyncio.ensure_future(store.latest())
    await asyncio.sleep(0)
    await store.close()
    for each in (under_way, next_turn):
        with pytest.raises(Unavailable, match="stops"):
            await asyncio.wait_for(each, 1)
