"""The power fails at random moments; whatever was acknowledged by then is there, and nothing that was never asked for.

`SETPOINT_TORTURE=2000` fails it as many times.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
from pathlib import Path

import apsw
import pytest
from msgspec import Struct

from setpoint.kit.clock import RealClock
from setpoint.storage.backends import sqlite_checkpoints
from setpoint.storage.backends.sqlite import SQLiteJournal, sqlite_store
from setpoint.storage.backends.sqlite_files import FILE
from setpoint.storage.local import LocalStore
from setpoint.storage.mvcc import Retention
from setpoint.storage.protocol import Compacted, Encode, Encoded, Event, Record, StoreError, Unavailable
from setpoint.testing.power import Disk
from setpoint.testing.storage import body, until

CUTS = int(os.environ.get("SETPOINT_TORTURE", "40"))
KEYS = [f"pods/d/x{number}" for number in range(6)]


class Cut(Struct, frozen=True):
    """What one power failure left, and how many writes had been acknowledged by then."""

    files: dict[str, bytes]
    acknowledged: int


class Run:
    """A store on a disk whose power fails whenever chance says so; it goes on, and each failure is looked into afterwards."""

    def __init__(self, directory: Path, seed: int, cuts: int) -> None:
        self.rng = random.Random(seed)  # noqa: S311  predictable on purpose
        self.directory = directory
        self.disk = Disk()
        self.disk.before = self._perhaps_cut
        self.store = LocalStore(SQLiteJournal(directory, self.disk.connect), RealClock(), retention=Retention(bytes=20_000))
        self.written: dict[int, tuple[str, bytes | None]] = {}
        self.acknowledged = 0
        self.cuts: list[Cut] = []
        self._wanted = cuts

    def _perhaps_cut(self) -> None:
        """In one of the store's threads, before a write or a sync."""
        if self.rng.random() < 0.15 and len(self.cuts) < self._wanted:
            # The disk last: what another thread does meanwhile need not be on it.
            acknowledged = self.acknowledged
            index = self.directory / f"{FILE}-shm"
            beside = {index.name: index.read_bytes()} if index.exists() and self.rng.random() < 0.7 else {}
            self.cuts.append(Cut(self.disk.cut(self.rng) | beside, acknowledged))

    async def work(self) -> None:
        """Write, several at a time, until the power has failed often enough."""
        await self.store.open()
        for number in itertools.count():
            if len(self.cuts) >= self._wanted:
                break
            await asyncio.gather(*(self._write(f"{number}-{n}") for n in range(self.rng.randrange(1, 5))))
            if self.rng.random() < 0.05:
                await self._compact()
        await self.store.close()

    async def _compact(self) -> None:
        try:
            await self.store.compact(max(0, self.store.revision - 20))
        except Compacted:
            return

    async def _write(self, text: str) -> None:
        key = self.rng.choice(KEYS)
        head = await self.store.head(key)
        size = self.rng.choice((1, 100, 6000))
        done: Record | Event
        if head is None:
            done = await self.store.create(key, self._encode(key, text * size))
        elif self.rng.random() < 0.2:
            done = await self.store.delete(key)
            self.written[done.revision] = (key, None)
        else:
            done = await self.store.update(key, self._encode(key, text * size))
        self.acknowledged = max(self.acknowledged, done.revision)

    def _encode(self, key: str, text: str) -> Encode:
        encode = body(text)

        def remember(revision: int) -> Encoded:
            encoded = encode(revision)
            self.written[revision] = (key, encoded.value)
            return encoded

        return remember

    def state(self, revision: int) -> dict[str, bytes]:
        """What there was at a revision."""
        found: dict[str, bytes] = {}
        for each in range(1, revision + 1):
            key, value = self.written[each]
            if value is None:
                del found[key]
            else:
                found[key] = value
        return found


def lay_out(cut: Cut, directory: Path) -> None:
    directory.mkdir()
    for name, content in cut.files.items():
        (directory / name).write_bytes(content)


async def look_into(run: Run, cut: Cut, directory: Path) -> int:
    """Open what a power failure left; returns the revision that it came to."""
    lay_out(cut, directory)
    store = sqlite_store(directory, RealClock())
    await store.open()
    recovered = store.revision
    assert recovered >= cut.acknowledged
    found = {record.key: record.value for record in (await store.list("")).records}
    assert found == run.state(recovered)
    assert (await store.create("pods/d/new", body("new"))).revision == recovered + 1
    await store.close()
    return recovered


@pytest.fixture(autouse=True)
def _short_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints after so few pages that power fails in the midst of many."""
    monkeypatch.setattr(sqlite_checkpoints, "EVERY", 12)
    monkeypatch.setattr(sqlite_checkpoints, "OWN", 60)


async def test_the_power_fails(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(1 << 30)
    run = Run(tmp_path / "data", seed, CUTS)
    await run.work()
    assert len(run.cuts) == CUTS
    behind = 0
    for number, cut in enumerate(run.cuts):
        try:
            behind += await look_into(run, cut, tmp_path / str(number)) > cut.acknowledged
        except BaseException as error:
            error.add_note(f"seed {seed}, power failure {number}")
            raise
    assert behind < CUTS


async def test_a_disk_that_lies_is_noticed(tmp_path: Path) -> None:
    """The test's own test: with syncs that do nothing, writes are lost, and that is seen."""
    run = Run(tmp_path / "data", 1, 25)
    run.disk.will_sync = lambda name: run.disk.before()  # type: ignore[method-assign]  # noqa: ARG005  never synced
    await run.work()
    losses = 0
    for number, cut in enumerate(run.cuts):
        try:
            await look_into(run, cut, tmp_path / str(number))
        except (AssertionError, StoreError):
            losses += 1
    assert losses > 3


# ---- a disk that fails


async def opened(directory: Path, disk: Disk) -> LocalStore:
    store = LocalStore(SQLiteJournal(directory, disk.connect), RealClock())
    await store.open()
    return store


async def fails(store: LocalStore, name: str) -> None:
    with pytest.raises(Unavailable):
        await store.create(f"pods/d/{name}", body(name * 3000))


@pytest.mark.parametrize("fault", ["sync", "short write", "full", "read-only"])
async def test_a_write_that_the_disk_refused(fault: str, tmp_path: Path) -> None:
    """It did not happen, reads go on, the store says what is wrong, and that it is over once it is."""
    disk = Disk()
    store = await opened(tmp_path, disk)
    await store.create("pods/d/before", body("before"))

    def break_down(*, down: bool) -> None:
        disk.refusal = {"full": apsw.FullError, "read-only": apsw.ReadOnlyError}.get(fault) if down else None
        disk.syncs_fail = 1000 if down and fault == "sync" else 0
        disk.writes_stop = 1000 if down and fault == "short write" else 0

    break_down(down=True)
    for name in "abc":
        await fails(store, name)
    await until(lambda: bool(store.trouble), expected=True)
    assert [record.key for record in (await store.list("pods/")).records] == ["pods/d/before"]
    break_down(down=False)
    await until(lambda: store.trouble, "")
    await store.create("pods/d/after", body("after"))
    await store.close()
    store = sqlite_store(tmp_path, RealClock())
    await store.open()
    assert [record.key for record in (await store.list("pods/")).records] == ["pods/d/after", "pods/d/before"]
    await store.close()


async def test_the_sync_precedes_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_checkpoints, "EVERY", 4000)  # a checkpoint syncs the log too
    monkeypatch.setattr(sqlite_checkpoints, "OWN", 4000)
    disk = Disk()
    store = await opened(tmp_path, disk)
    for number in range(20):
        disk.trace.clear()
        await store.create(f"pods/d/{number}", body("x"))
        what = [what for what, name in disk.trace if name.endswith("-wal")]
        assert (what[0], what[-1]) == ("write", "sync")
    await store.close()
