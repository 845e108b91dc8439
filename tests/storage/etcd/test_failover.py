"""Members of etcd die, hang and come back under load: what was acknowledged stays, what was refused never was."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from setpoint.kit.clock import RealClock
from setpoint.storage.backends.etcd.store import etcd_store
from setpoint.storage.cache import Cache
from setpoint.storage.protocol import Event, NotFound, Unavailable, Uncertain
from setpoint.testing import etcd as real
from setpoint.testing.etcd import Etcd
from setpoint.testing.storage import body

ROUNDS = int(os.environ.get("SETPOINT_ETCD_ROUNDS", "1"))


@dataclass
class Ledger:
    """What clients were told of their writes, by key."""

    made: dict[str, int] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    uncertain: set[str] = field(default_factory=set)

    async def write(self, store: Cache, writer: str, stop: asyncio.Event) -> None:
        n = 0
        while not stop.is_set():
            key = f"pods/{writer}/{n}"
            n += 1
            try:
                self.made[key] = (await store.create(key, body(key))).revision
            except Unavailable:
                self.refused.add(key)
            except Uncertain:
                self.uncertain.add(key)


@pytest.fixture
async def etcd(tmp_path: Path) -> AsyncIterator[Etcd]:
    if not real.ETCD:
        pytest.skip("etcd is not installed (scripts/debian_packages.sh test)")
    with real.running(tmp_path / "etcd", 3) as etcd:
        yield etcd


async def follow(store: Cache, after: int, seen: list[Event], until: asyncio.Event) -> None:
    async with await store.watch("pods/", after=after, capacity=100_000) as watch:
        while not until.is_set():
            try:
                async with asyncio.timeout(0.2):
                    seen += await watch.next()
            except TimeoutError:
                continue


async def test_members_die_and_hang_under_load(etcd: Etcd) -> None:
    stores = [etcd_store(etcd.members("/registry"), RealClock()) for _ in range(2)]
    for store in stores:
        await store.open()
    ledger, stop, done = Ledger(), asyncio.Event(), asyncio.Event()
    seen: list[Event] = []
    async with asyncio.TaskGroup() as tasks:
        follower = tasks.create_task(follow(stores[1], stores[1].revision, seen, done))
        writers = [tasks.create_task(ledger.write(store, f"{s}{n}", stop)) for s, store in enumerate(stores) for n in range(4)]
        for _ in range(ROUNDS):
            await asyncio.sleep(0.5)
            leader = await asyncio.to_thread(etcd.leader)
            etcd.kill(leader)
            await _more(ledger, 50)
            etcd.begin(leader)
            await asyncio.to_thread(etcd.wait)
            hung = await asyncio.to_thread(etcd.leader)
            etcd.pause(hung)
            await _more(ledger, 50)
            etcd.resume(hung)
            await asyncio.sleep(0.3)
        stop.set()
        await asyncio.gather(*writers)
        newest = max(ledger.made.values())
        for store in stores:
            for key, revision in ledger.made.items():
                assert (await store.get(key)).revision == revision, key
            for key in ledger.refused:
                with pytest.raises(NotFound):
                    await store.get(key)
        assert await stores[1].wait_for(newest, 5)
        done.set()
        await follower
    revisions = [event.revision for event in seen]
    assert revisions == sorted(set(revisions))
    assert {event.key: event.revision for event in seen if event.key in ledger.made} == ledger.made
    assert len(set(ledger.made.values())) == len(ledger.made)
    for store in stores:
        await store.close()


async def _more(ledger: Ledger, count: int) -> None:
    """Until so many more writes were acknowledged."""
    wanted = len(ledger.made) + count
    for _ in range(600):
        if len(ledger.made) >= wanted:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"{len(ledger.made) + count - wanted} of {count} writes were acknowledged in 30 s")
