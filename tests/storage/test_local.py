"""What the local store does by itself, whatever its journal."""

from __future__ import annotations

import pytest

from setpoint.kit.clock import VirtualClock
from setpoint.storage import local
from setpoint.storage.backends.memory import memory_store
from setpoint.testing.storage import body


async def test_an_expiry_that_comes_during_an_overload_comes_later(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = VirtualClock()
    store = memory_store(clock)
    await store.open()
    await store.create("events/d/a", body("x"), ttl=10)
    monkeypatch.setattr(local, "MAX_PENDING", 0)
    await clock.advance(11)
    assert await store.head("events/d/a") is not None
    monkeypatch.undo()
    await clock.advance(5)
    assert await store.head("events/d/a") is None
    await store.close()
