"""A disk that is full or may not be written: what clients are told meanwhile, and that all is well once there is room again."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import orjson
import pytest

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.request import Request
from setpoint.app.assembly import make_pipeline
from setpoint.client import transport
from setpoint.client.transports.in_process import InProcessTransport
from setpoint.kit.clock import RealClock, VirtualClock
from setpoint.storage.backends.memory import MemoryJournal
from setpoint.storage.backends.sqlite import sqlite_store
from setpoint.storage.local import STUCK_SECONDS, LocalStore
from setpoint.storage.protocol import StoreError
from setpoint.testing.storage import FaultyJournal, body, settle, until

ADMIN = UserInfo("admin", groups=("system:masters", "system:authenticated"))
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


class Door:
    """An API server over a store, and its answers."""

    def __init__(self, store: LocalStore) -> None:
        self.store = store
        self.pipeline = make_pipeline(store, RealClock(), address=lambda: "127.0.0.1:6443")
        self._transport = InProcessTransport(self.pipeline, Request, ADMIN)

    async def ask(self, method: str, path: str, content: object = None, **query: str) -> transport.Response:
        sent = orjson.dumps(content) if content is not None else b""
        return await self._transport.call(transport.Request(method, path, query, {"Content-Type": "application/json"}, sent))

    async def create(self, name: str, size: int = 0) -> transport.Response:
        return await self.ask("POST", CONFIG_MAPS, {"metadata": {"name": name}, "data": {"x": "x" * size}})

    async def ready(self) -> int:
        return (await self.ask("GET", "/readyz")).status


@asynccontextmanager
async def door_of(store: LocalStore) -> AsyncIterator[Door]:
    await store.open()
    door = Door(store)
    await door.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    try:
        yield door
    finally:
        await door.pipeline.close()
        await store.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("only root may mount")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(tmp_path)], check=False, capture_output=True)
    if mounted.returncode:
        pytest.skip("no file system may be mounted here")
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


async def test_a_full_disk(small_disk: Path) -> None:
    filler = small_disk / "filler"
    async with door_of(sqlite_store(small_disk / "store", RealClock())) as door:
        assert (await door.create("before")).status == 201
        fill(filler)
        await refuses_and_recovers(door, filler.unlink)


def fill(file: Path) -> None:
    """Take every free block."""
    with file.open("wb", buffering=0) as handle:
        try:
            while True:
                handle.write(bytes(4096))
        except OSError:
            return


async def test_files_that_may_not_grow(tmp_path: Path) -> None:
    """What everyone can have instead of a full disk: a limit to the size of files."""
    async with door_of(sqlite_store(tmp_path / "store", RealClock())) as door:
        assert (await door.create("before")).status == 201
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        size = max(each.stat().st_size for each in (tmp_path / "store").iterdir())
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))

        def grow() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

        try:
            await refuses_and_recovers(door, grow)
        finally:
            grow()


async def refuses_and_recovers(door: Door, make_room: Callable[[], None]) -> None:
    refused = [await door.create(f"refused-{number}", 100_000) for number in range(20)]
    answer = next(each for each in refused if each.status != 201)
    status = orjson.loads(answer.body)
    assert (answer.status, status["kind"], status["reason"]) == (503, "Status", "ServiceUnavailable")
    assert status["details"]["retryAfterSeconds"] == 1
    assert answer.headers["Retry-After"] == "1"
    await until(door.ready, 500)
    told = (await door.ask("GET", "/readyz")).body.decode()
    assert "[-]etcd failed: reason withheld" in told
    assert "[-]etcd-readiness failed" in told
    [condition] = orjson.loads((await door.ask("GET", "/api/v1/componentstatuses/etcd-0")).body)["conditions"]
    assert condition["status"] == "False"
    assert (await door.ask("GET", f"{CONFIG_MAPS}/before")).status == 200
    listed = {item["metadata"]["name"] for item in orjson.loads((await door.ask("GET", CONFIG_MAPS)).body)["items"]}
    made = {f"refused-{number}" for number, each in enumerate(refused) if each.status == 201}
    assert listed == {"before", *made}
    make_room()
    await until(door.ready, 200, 10)
    assert (await door.create("after", 100_000)).status == 201


async def test_a_disk_that_may_not_be_written(small_disk: Path) -> None:
    store = sqlite_store(small_disk / "store", RealClock())
    await store.open()
    await store.create("pods/d/a", body("a"))
    await store.close()
    await asyncio.to_thread(subprocess.run, ["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(StoreError, match="cannot be used: Read-only file system"):
        await sqlite_store(small_disk / "store", RealClock()).open()


async def test_a_disk_that_hangs() -> None:
    clock = VirtualClock()
    journal = FaultyJournal(MemoryJournal())
    store = LocalStore(journal, clock)
    await store.open()
    journal.hold()
    write = asyncio.ensure_future(store.create("pods/d/a", body("a")))
    await settle()
    assert store.trouble == ""
    await clock.advance(STUCK_SECONDS + 1)
    assert store.trouble == "a commit has been waiting for the disk for 6 s"
    journal.release()
    await write
    assert store.trouble == ""
    await store.close()


class JumpingClock(VirtualClock):
    """Its wall time can be set; what has elapsed goes on as ever."""

    shift = 0.0

    def now(self) -> float:
        return super().now() + self.shift


async def test_the_wall_clock_jumps() -> None:
    """Neither order nor history depends on it; what has a time to live outlives no forward jump by more than a minute."""
    clock = JumpingClock()
    store = LocalStore(MemoryJournal(), clock)
    await store.open()
    first = await store.create("pods/d/a", body("a"))
    await store.create("events/d/e", body("e"), ttl=3600)
    clock.shift = -86_400
    await clock.advance(1)
    second = await store.update("pods/d/a", body("b"))
    assert second.revision > first.revision
    assert (await store.get("pods/d/a", revision=first.revision)).value == first.value
    await clock.advance(120)
    assert await store.count("events/") == 1
    clock.shift = 86_400
    await clock.advance(61)
    assert await store.count("events/") == 0
    assert (await store.get("pods/d/a", revision=first.revision)).value == first.value
    await store.close()
