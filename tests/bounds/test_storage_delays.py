"""Compaction and checkpoints go on beside writers and hardly delay them."""

from __future__ import annotations

import asyncio
import itertools
import time
from pathlib import Path

from tests.bounds.rig import FULL, percentile, report

from setpoint.kit.clock import RealClock
from setpoint.storage.backends.sqlite import sqlite_store
from setpoint.storage.mvcc import Retention
from setpoint.storage.protocol import Encoded

WRITES = 60_000 if FULL else 2_500
WRITERS = 16
KEYS = 200
MOST = 0.050 if FULL else 0.500  # seconds at p99.9; the short form shares its machine with other tests


async def test_writers_are_hardly_delayed_by_compaction_and_checkpoints(tmp_path: Path) -> None:
    """Each object is overwritten hundreds of times, so that history is dropped and the log of SQLite comes round often."""
    store = sqlite_store(tmp_path, RealClock(), retention=Retention(seconds=2.0, bytes=4 * 1024 * 1024))
    await store.open()
    value = b"{" + b"x" * 1500 + b"}"
    for number in range(KEYS):
        await store.create(f"pods/d/{number}", lambda _: Encoded(value))
    times: list[float] = []
    compactions = 0

    async def write(writer: int) -> None:
        for number in itertools.count():
            if number >= WRITES // WRITERS and compactions:  # a fast machine writes all before the first one
                return
            before = time.perf_counter()
            await store.update(f"pods/d/{(writer * 31 + number) % KEYS}", lambda _: Encoded(value))
            times.append(time.perf_counter() - before)

    async def compact() -> None:
        nonlocal compactions
        while True:
            await asyncio.sleep(0.1)
            if store.revision > 2 * KEYS:
                await store.compact(store.revision - KEYS)
                compactions += 1

    compacting = asyncio.ensure_future(compact())
    await asyncio.gather(*map(write, range(WRITERS)))
    compacting.cancel()
    await asyncio.wait([compacting])
    assert compacting.cancelled(), compacting.exception()
    assert compactions
    await store.close()
    report(
        "writers beside compaction",
        writes=len(times),
        compactions=compactions,
        p50_ms=round(percentile(times, 0.5) * 1000, 2),
        p999_ms=round(percentile(times, 0.999) * 1000, 2),
        worst_ms=round(max(times) * 1000, 2),
    )
    assert percentile(times, 0.999) < MOST
