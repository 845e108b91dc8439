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

import pytest

from setpoint.client.kubeconfig import load
from setpoint.client.transports.http import HttpTransport
from setpoint.kit.tasks import Tasks
from setpoint.storage.backends.sqlite_files import FILE
from setpoint.testing import etcd as real
from setpoint.testing.consistency import History, OfServer, Workload, check
from setpoint.testing.real import Cluster

KILLS = max(2, int(os.environ.get("SETPOINT_TORTURE", "20")) // 10)
if "SETPOINT_TORTURE" in os.environ:
    KILLS = int(os.environ["SETPOINT_TORTURE"])
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
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """What `--store` takes; a real etcd for the long form only."""
    if request.param == "sqlite":
        yield "sqlite"
        return
    if "SETPOINT_TORTURE" not in os.environ or not real.ETCD:
        pytest.skip("only with SETPOINT_TORTURE, and where etcd is installed")
    with real.running(tmp_path / "etcd", 1) as etcd:
        yield etcd.store


async def test_kill_server(store: str, tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(1 << 30)
    rng = random.Random(seed)  # noqa: S311  predictable on purpose
    cluster = Cluster(tmp_path / "data", ["--nodes", "0", "--port", "0", "--store", store])
    history = History()
    try:
        await asyncio.to_thread(cluster.start)
        async with clients(cluster, 5) as subjects:
            await torture(cluster, history, subjects, rng)
    finally:
        await asyncio.to_thread(cluster.stop)
    assert check(history) == [], f"seed {seed}"
    assert sum(each.outcome == "done" for each in history.operations) > 5 * KILLS
    if store == "sqlite":
        check_integrity(tmp_path / "data" / "store" / FILE)


def check_integrity(database: Path) -> None:
    with sqlite3.connect(database) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


async def torture(cluster: Cluster, history: History, subjects: list[OfServer], rng: random.Random) -> None:
    for name in "de":
        await subjects[0].create_namespace(name)
    after = (await subjects[0].page("configmaps/", limit=1)).revision
    load = Workload(history, KEYS, rng.randrange(1 << 30), prefixes=["configmaps/", "configmaps/d/"])
    async with Tasks("torture") as tasks:
        for number, prefix in enumerate([*load.prefixes, *load.prefixes]):
            tasks.start(f"watcher {number}", load.watcher(100 + number, subjects[number], prefix, after))
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


async def progress(history: History, answers: int) -> None:
    """Let that many operations be answered; how long that takes is the machine's business."""
    goal = history.answers + answers
    while history.answers < goal:  # noqa: ASYNC110  the workload tells nobody
        await asyncio.sleep(0.002)
