from __future__ import annotations

import orjson

from setpoint.kit.clock import VirtualClock
from setpoint.storage.backends.memory import memory_store
from setpoint.storage.protocol import Encoded
from setpoint.testing.beside import Beside
from setpoint.testing.invariants import Invariants


def written(revision: int) -> Encoded:
    return Encoded(orjson.dumps({"metadata": {"name": "a", "uid": f"u{revision}", "resourceVersion": str(revision)}}))


async def test_what_is_wrong_is_found_by_the_other_process() -> None:
    clock = VirtualClock()
    store = memory_store(clock)
    await store.open()
    before = await store.create("configmaps/d/before", written)
    async with Beside(store, clock, Invariants) as beside:
        await store.create("configmaps/d/a", lambda revision: written(revision + 7))
        await clock.advance(1)
        [problem] = beside.violations()
    revision = before.revision + 1
    assert f"revision {revision}, configmaps/d/a: resourceVersion {revision + 7} at revision {revision}" in problem
    await store.close()
