"""Histories of concurrent clients on every store, and through the API server, with faults on.

`SETPOINT_HISTORIES=500` makes as many of each kind; a failure names its seed, and `SETPOINT_HISTORIES=41-42` runs that alone.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.request import Request
from setpoint.app.assembly import make_pipeline
from setpoint.client.transports.in_process import InProcessTransport
from setpoint.kit.clock import RealClock
from setpoint.storage.backends.memory import MemoryJournal
from setpoint.storage.backends.sqlite import SQLiteJournal
from setpoint.storage.journal import Journal
from setpoint.storage.local import LocalStore
from setpoint.storage.mvcc import Retention
from setpoint.storage.protocol import Compacted, Store
from setpoint.testing.consistency import History, OfServer, OfStore, Workload, check, record
from setpoint.testing.etcd import Etcd
from setpoint.testing.faults import Faults, Link, Rates
from setpoint.testing.storage import FaultyJournal

ASKED = os.environ.get("SETPOINT_HISTORIES", "1")
FIRST, _, LAST = ASKED.rpartition("-")
SEEDS = range(int(FIRST or 0), int(LAST))
ADMIN = UserInfo("admin", groups=("system:masters", "system:authenticated"))
STORM = Rates(unavailable=0.03, lost_answer=0.05, too_many=0.02, latency=0.002, watch_break=0.03, watch_delay=0.01)


class Trouble:
    """What befalls the stores while clients work: by default commits are held and fail, and history is compacted."""

    def __init__(self, stores: Sequence[Store], seed: int, journal: FaultyJournal | None = None) -> None:
        self.stores = stores
        self.rng = random.Random(seed)  # noqa: S311  predictable on purpose
        self._journal = journal

    async def __call__(self) -> None:
        while True:
            await asyncio.sleep(self.rng.random() * 0.01)
            if self.rng.random() < 0.2:
                await self._compact()
            if self._journal is not None:
                await self._disturb(self._journal)

    async def _disturb(self, journal: FaultyJournal) -> None:
        journal.hold()
        try:
            await asyncio.sleep(self.rng.random() * 0.01)
            journal.fail_next(self.rng.choice((0, 0, 0, 0, 1, 2)))
        finally:
            journal.release()

    async def _compact(self) -> None:
        with suppress(Compacted):
            await self.stores[0].compact(max(0, self.stores[0].revision - self.rng.randrange(30)))

    def calm(self) -> None:
        if self._journal is not None:
            self._journal.fail_next(0)


class DyingEtcd(Trouble):
    """etcd is killed and comes back."""

    etcd: Etcd

    async def __call__(self) -> None:
        await asyncio.sleep(self.rng.random() * 0.2)
        self.etcd.kill(0)
        try:
            await asyncio.sleep(self.rng.random() * 0.2)
        finally:
            self.etcd.begin(0)


def _local(journal: Journal, retention: Retention) -> tuple[LocalStore, FaultyJournal]:
    faulty = FaultyJournal(journal)
    return LocalStore(faulty, RealClock(), retention=retention), faulty


@contextmanager
def memory(_directory: Path, seed: int) -> Iterator[Trouble]:
    store, journal = _local(MemoryJournal(), Retention())
    yield Trouble([store], seed, journal)


@contextmanager
def sqlite(directory: Path, seed: int) -> Iterator[Trouble]:
    store, journal = _local(SQLiteJournal(directory), Retention(bytes=30_000))
    yield Trouble([store], seed, journal)


@contextmanager
def etcd(directory: Path, seed: int) -> Iterator[Trouble]:
    """Two API servers' stores on one etcd."""
    from setpoint.storage.backends.etcd.store import etcd_store
    from setpoint.testing import etcd as real

    if not real.ETCD:
        pytest.skip("etcd is not installed (scripts/debian_packages.sh test)")
    with real.running(directory, 1) as members:
        trouble = DyingEtcd([etcd_store(members.members("/registry"), RealClock()) for _ in range(2)], seed)
        trouble.etcd = members
        yield trouble


BACKENDS = [memory, sqlite, etcd]
Backend = Callable[[Path, int], AbstractContextManager[Trouble]]


@asynccontextmanager
async def troubled(backend: Backend, directory: Path, seed: int) -> AsyncIterator[Trouble]:
    """The backend's stores, open."""
    with backend(directory, seed) as trouble:
        for store in trouble.stores:
            await store.open()
        try:
            yield trouble
        finally:
            for store in trouble.stores:
                await store.close()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: backend.__name__)
async def test_a_store(backend: Backend, seed: int, tmp_path: Path) -> None:
    history = History()
    keys = [f"pods/{namespace}/x{number}" for namespace in "de" for number in range(3)]
    load = Workload(history, keys, seed, prefixes=["pods/", "pods/d/"])
    async with troubled(backend, tmp_path, seed) as trouble:
        after = trouble.stores[0].revision
        subjects = [OfStore(trouble.stores[number % len(trouble.stores)]) for number in range(6)]
        await record(load, subjects, steps=50, after=after, pause=0.004, trouble=trouble, calm=trouble.calm)
    assert check(history) == []
    assert sum(each.outcome == "done" for each in history.operations) > 50


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: backend.__name__)
async def test_an_api_server(backend: Backend, seed: int, tmp_path: Path) -> None:
    history = History()
    keys = [f"configmaps/{name}/x{number}" for name in "de" for number in range(3)]
    load = Workload(history, keys, seed, prefixes=["configmaps/", "configmaps/d/"])
    faults = Faults(RealClock(), random.Random(seed))  # noqa: S311  predictable on purpose
    async with troubled(backend, tmp_path, seed) as trouble:
        pipelines = [make_pipeline(store, RealClock(), address=lambda: "127.0.0.1:6443") for store in trouble.stores]
        subjects = [OfServer(link_to(pipelines[number % len(pipelines)], faults)) for number in range(5)]
        for name in ("d", "e"):
            await subjects[0].create_namespace(name)
        after = trouble.stores[0].revision

        def calm() -> None:
            trouble.calm()
            faults.calm()

        faults.rates = STORM
        await record(load, subjects, steps=25, after=after, pause=0.004, trouble=trouble, calm=calm)
        for pipeline in pipelines:
            await pipeline.close()
    assert check(history) == []
    assert sum(each.outcome == "done" for each in history.operations) > 5


def link_to(pipeline: Pipeline, faults: Faults) -> Link:
    return Link(InProcessTransport(pipeline, Request, ADMIN), faults)
