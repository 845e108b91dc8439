"""What only a disk can do wrong: crashes, permissions, locks, versions, corruption."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from setpoint.kit.clock import RealClock
from setpoint.storage.backends.sqlite import MIGRATIONS, sqlite_store
from setpoint.storage.backends.sqlite_files import FILE
from setpoint.storage.local import LocalStore
from setpoint.storage.mvcc import Retention
from setpoint.storage.protocol import StoreError, Unavailable
from setpoint.testing.storage import body, until

WRITER = """
    import asyncio, pathlib, sys
    from setpoint.kit.clock import RealClock
    from setpoint.storage.backends.sqlite import sqlite_store
    from setpoint.storage.protocol import Encoded

    async def write(store, writer):
        for n in range(1_000_000):
            key = f"pods/{writer}/{n % 50}"
            value = f"{writer}-{n}".encode()
            act = store.create if n < 50 else store.update
            record = await act(key, lambda revision: Encoded(value))
            print(record.revision, key, value.decode(), flush=True)

    async def main():
        store = sqlite_store(pathlib.Path(sys.argv[1]), RealClock())
        await store.open()
        await asyncio.gather(*(write(store, writer) for writer in range(8)))

    asyncio.run(main())
"""


def store_in(directory: Path) -> LocalStore:
    return sqlite_store(directory, RealClock())


async def complaint(directory: Path) -> str:
    with pytest.raises(StoreError) as raised:
        await store_in(directory).open()
    text = str(raised.value)
    assert "\n" not in text
    return text


def killed_writer(directory: Path, acknowledgements: int) -> dict[str, tuple[int, str]]:
    """Run the writer, kill it in the middle, return the last acknowledged write of each key."""
    source = textwrap.dedent(WRITER)
    acknowledged: dict[str, tuple[int, str]] = {}
    with subprocess.Popen([sys.executable, "-c", source, str(directory)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for _ in range(acknowledgements):
            revision, key, value = writer.stdout.readline().split()
            acknowledged[key] = (int(revision), value)
        writer.send_signal(signal.SIGKILL)
        for line in writer.stdout:
            if line.endswith("\n"):
                revision, key, value = line.split()
                acknowledged[key] = (int(revision), value)
    return acknowledged


async def test_every_acknowledged_write_outlives_sigkill(tmp_path: Path) -> None:
    newest = 0
    for life in range(2):
        directory = tmp_path / str(life)
        acknowledged = killed_writer(directory, 1500)
        store = store_in(directory)
        await store.open()
        for key, (revision, value) in acknowledged.items():
            record = await store.get(key)
            assert record.revision >= revision
            assert record.revision > revision or record.value == value.encode()
        newest = max(revision for revision, _ in acknowledged.values())
        assert store.revision >= newest
        assert (await store.create("nodes/n", body("n"))).revision > newest
        await store.close()


async def test_files_are_private(tmp_path: Path) -> None:
    directory = tmp_path / "data"
    store = store_in(directory)
    await store.open()
    await store.create("pods/d/a", body("a"))
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()}
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert set(modes.values()) == {0o600}, modes
    await store.close()


async def test_second_server_is_refused(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    await store.open()
    assert await complaint(tmp_path) == f"data directory {tmp_path} is in use by another server (pid {os.getpid()})"
    with pytest.raises(StoreError, match="open already"):
        await store.open()
    await store.close()
    again = store_in(tmp_path)
    await again.open()
    await again.close()


async def test_newer_version_is_refused(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    await store.open()
    await store.close()
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute(f"PRAGMA user_version={len(MIGRATIONS) + 1}")
    connection.close()
    assert "was written by a newer version" in await complaint(tmp_path)


async def test_corrupted_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"this is no database, " * 500)
    assert "is corrupted" in await complaint(tmp_path)


async def test_torn_pages_are_noticed(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    await store.open()
    for n in range(300):
        await store.create(f"pods/d/{n}", body("x" * 500))
    await store.close()
    path = tmp_path / FILE
    data = bytearray(path.read_bytes())
    data[8192:] = b"\xff" * (len(data) - 8192)
    path.write_bytes(data)
    assert "is corrupted" in await complaint(tmp_path)


async def test_a_lost_beginning_of_history_is_noticed(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    await store.open()
    await store.close()
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("DELETE FROM history")
    connection.close()
    assert "is corrupted: it does not say where its history begins" in await complaint(tmp_path)


async def test_a_path_that_cannot_be_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert "cannot be used" in await complaint(tmp_path / "file" / "data")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_unwritable_directory(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    os.mkdir(closed, mode=0o500)  # noqa: PTH102 - a test may block
    assert "cannot be used" in await complaint(closed / "data")


async def test_selection_of_stored_records_is_computed_once(tmp_path: Path) -> None:
    asked: list[str] = []

    def describe(key: str, value: bytes) -> str:
        asked.append(key)
        return value.decode()

    store = store_in(tmp_path)
    await store.open()
    await store.create("pods/d/a", body("a"))
    await store.create("pods/d/b", body("b"))
    await store.close()
    store = sqlite_store(tmp_path, RealClock(), describe=describe)
    await store.open()
    record = await store.get("pods/d/a")
    assert asked == []
    first = record.selection
    assert '"a"' in first
    assert record.selection is first
    assert asked == ["pods/d/a"]
    await store.close()


async def test_history_outlives_a_restart(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    await store.open()
    first = await store.create("pods/d/a", body("a"))
    await store.update("pods/d/a", body("b"))
    await store.delete("pods/d/a")
    await store.close()
    store = store_in(tmp_path)
    await store.open()
    assert (await store.get("pods/d/a", revision=first.revision)).value == first.value
    async with await store.watch("pods/", after=first.revision) as watch:
        assert [event.revision for event in watch.ready()] == [2, 3]
    await store.close()


async def test_superseded_rows_are_erased(tmp_path: Path) -> None:
    store = sqlite_store(tmp_path, RealClock(), retention=Retention(seconds=300, bytes=20_000))
    await store.open()
    await store.create("pods/d/a", body("a"))
    for n in range(200):
        await store.update("pods/d/a", body(str(n)))
    await store.compact(store.revision)

    def rows() -> int:
        connection = sqlite3.connect(tmp_path / FILE)
        (count,) = connection.execute("SELECT count(*) FROM log").fetchone()
        connection.close()
        return int(count)

    await until(rows, 1)
    await store.close()


async def test_a_full_disk_refuses_and_recovers(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    await store.open()
    await store.create("pods/d/a", body("a"))
    journal = store._journal._journal  # type: ignore[attr-defined]  # below the seal
    await journal._call(lambda: journal._connection.execute("PRAGMA max_page_count=1").fetchall())
    with pytest.raises(Unavailable, match="full"):
        await store.create("pods/d/big", body("x" * 200_000))
    await journal._call(lambda: journal._connection.execute("PRAGMA max_page_count=1000000").fetchall())
    record = await store.create("pods/d/b", body("b"))
    assert store.revision == record.revision
    await store.close()


async def test_what_the_disk_has_no_form_for_fails_alone(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    await store.open()
    with pytest.raises(Unavailable):
        await store.create("pods/d/\udc80", body("x"))
    await store.create("pods/d/a", body("x"))
    await store.close()
