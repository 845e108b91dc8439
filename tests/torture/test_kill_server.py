"""SIGKILL of the real server at random moments, while clients write, read and watch over the wire.

After all that the whole history must be one that a single, never failing store could have made: every acknowledged write is
there, none twice, revisions only grow and never mean two things, and every watch, resumed after each crash, told everything once.
`SETPOINT_TORTURE=300` kills it as many times.
"""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Literal

import orjson
import pytest

from setpoint.client.kubeconfig import load
from setpoint.client.transports.http import HttpTransport
from setpoint.kit.clock import RealClock
from setpoint.kit.tasks import Tasks
from setpoint.storage.backends.sqlite_files import FILE
from setpoint.storage.protocol import Event
from setpoint.testing import etcd as real
from setpoint.testing.consistency import History, OfServer, Workload, check
from setpoint.testing.consistency.history import Seen, Version
from setpoint.testing.etcd import Etcd
from setpoint.testing.real import Cluster

KILLS = int(os.environ.get("SETPOINT_TORTURE", "2"))
KEYS = [f"configmaps/{name}/x{number}" for name in "de" for number in range(4)]


@asynccontextmanager
async def clients(cluster: Cluster, count: int) -> AsyncIterator[list[OfServer]]:
    async with AsyncExitStack() as stack:
        access = load(cluster.kubeconfig)
        transports = [HttpTransport(access) for _ in range(count)]
        for transport in transports:
            stack.push_async_callback(transport.close)
        yield [OfServer(transport, alone=False) for transport in transports]


@pytest.fixture(params=["sqlite", "etcd"])
def etcd(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Etcd | None]:
    """None for SQLite; a real etcd for the long form only."""
    if request.param == "sqlite":
        yield None
        return
    if "SETPOINT_TORTURE" not in os.environ or not real.ETCD:
        pytest.skip("only with SETPOINT_TORTURE, and where etcd is installed")
    with real.running(tmp_path / "etcd", 1) as running:
        yield running


async def test_kill_server(etcd: Etcd | None, tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(1 << 30)
    rng = random.Random(seed)  # noqa: S311  predictable on purpose
    store = etcd.store if etcd is not None else "sqlite"
    cluster = Cluster(tmp_path / "data", ["--nodes", "0", "--port", "0", "--store", store])
    history = History()
    try:
        await asyncio.to_thread(cluster.start)
        async with clients(cluster, 5) as subjects:
            await torture(cluster, history, subjects, rng, etcd)
    finally:
        await asyncio.to_thread(cluster.stop)
    faults = check(history)
    assert not faults, "\n".join([f"seed {seed}", *faults[:30]])
    assert sum(each.outcome == "done" for each in history.operations) > 5 * KILLS
    if etcd is None:
        check_integrity(tmp_path / "data" / "store" / FILE)


def check_integrity(database: Path) -> None:
    with sqlite3.connect(database) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


async def torture(cluster: Cluster, history: History, subjects: list[OfServer], rng: random.Random, etcd: Etcd | None) -> None:
    for name in "de":
        await subjects[0].create_namespace(name)
    after = (await subjects[0].page("configmaps/", limit=1)).revision
    load = Workload(history, KEYS, rng.randrange(1 << 30), prefixes=["configmaps/", "configmaps/d/"])
    async with Tasks("torture") as tasks:
        for number, prefix in enumerate([*load.prefixes, *load.prefixes]):
            tasks.start(f"watcher {number}", load.watcher(100 + number, subjects[number], prefix, after))
        if etcd is not None:
            looking = asyncio.Event()
            tasks.start("witness", witness(etcd, history, looking))
            await looking.wait()
        writers = [
            tasks.start(f"client {number}", load.client(number, subject, 1_000_000, pause=0.01))
            for number, subject in enumerate(subjects, 1)
        ]
        for _ in range(KILLS):
            await progress(history, rng.randrange(10, 80))
            await asyncio.sleep(rng.random() * 0.05)
            cluster.kill()
            await asyncio.to_thread(cluster.start)
        for writer in writers:
            writer.cancel()
        await asyncio.sleep(0.1)
        await load.finish(subjects[0])
        tasks.stop()


async def witness(etcd: Etcd, history: History, looking: asyncio.Event) -> None:
    """Follow etcd itself. A restarted API server has no history there, so its watchers begin anew and may miss deletions."""
    from setpoint.storage.backends.etcd.store import etcd_store

    store = etcd_store(etcd.members("/registry"), RealClock())
    await store.open()
    watching = history.watch_called(99, "configmaps/", store.revision)
    try:
        async with await store.watch("configmaps/", after=watching.after) as watch:
            looking.set()
            while True:
                events = await watch.next()
                watching.events += [seen(event) for event in events if "/x" in event.key]
                watching.until = watch.progress
    finally:
        await store.close()


def seen(event: Event) -> Seen:
    """A stored ConfigMap as a client sees it."""
    record = event.record or event.previous
    assert record is not None
    stored = orjson.loads(record.value)
    kind: Literal["ADDED", "MODIFIED", "DELETED"] = "ADDED" if event.previous is None else "MODIFIED"
    if event.record is None:
        return Seen("DELETED", Version(event.key, event.revision, "", stored["metadata"]["uid"]))
    return Seen(kind, Version(event.key, event.revision, stored["data"]["token"], stored["metadata"]["uid"]))


async def progress(history: History, answers: int) -> None:
    """Let that many operations be answered; how long that takes is the machine's business."""
    goal = history.answers + answers
    while history.answers < goal:  # noqa: ASYNC110  the workload tells nobody
        await asyncio.sleep(0.002)
