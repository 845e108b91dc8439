"""Snapshots: consistent while the store is written, verified to the last bit, restored only where nothing is lost."""

from __future__ import annotations

import asyncio
import errno
import stat
from pathlib import Path

import pytest

from setpoint.kit.clock import RealClock
from setpoint.storage.backends.sqlite import sqlite_store
from setpoint.storage.backends.sqlite_files import FILE
from setpoint.storage.backends.sqlite_snapshot import BUMP, restore, save, verify
from setpoint.storage.local import LocalStore
from setpoint.storage.protocol import Compacted, StoreError
from setpoint.testing.storage import body


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "data" / "store"


def store_in(directory: Path) -> LocalStore:
    return sqlite_store(directory, RealClock())


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


async def filled(directory: Path) -> LocalStore:
    store = store_in(directory)
    await store.open()
    for name in "abc":
        await store.create(f"pods/d/{name}", body(name))
    await store.update("pods/d/a", body("again"))
    await store.delete("pods/d/b")
    return store


async def test_a_snapshot_of_a_running_store(directory: Path, tmp_path: Path) -> None:
    store = await filled(directory)
    file = tmp_path / "snapshot"
    saved = await asyncio.to_thread(save, directory, file)
    assert (saved.revision, saved.objects, saved.rows) == (5, 2, 5)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    await store.create("pods/d/later", body("later"))
    await store.close()
    assert verify(file) == saved
    assert save(directory, tmp_path / "closed").objects == 3
    assert names(tmp_path) == ["closed", "data", "snapshot"]


async def test_a_snapshot_is_of_one_revision(directory: Path, tmp_path: Path) -> None:
    """Pairs are written together: a snapshot that tore them apart would have an odd number of objects."""
    store = store_in(directory)
    await store.open()
    stop = asyncio.Event()

    async def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            await asyncio.gather(*(store.create(f"pods/{side}/{number}", body("x" * 500)) for side in "lr"))

    writer = asyncio.ensure_future(write())
    for number in range(8):
        assert (await asyncio.to_thread(save, directory, tmp_path / str(number))).objects % 2 == 0
    stop.set()
    await writer
    await store.close()


async def test_restore_never_repeats_a_revision(directory: Path, tmp_path: Path) -> None:
    store = await filled(directory)
    await asyncio.to_thread(save, directory, tmp_path / "snapshot")
    await store.update("pods/d/c", body("lost"))
    seen = store.revision
    await store.close()
    restore(tmp_path / "snapshot", directory, force=True)
    store = store_in(directory)
    await store.open()
    assert b'"c"' in (await store.get("pods/d/c")).value
    assert b'"again"' in (await store.get("pods/d/a")).value
    assert store.revision == 5 + BUMP
    with pytest.raises(Compacted):
        await store.watch("pods/", after=seen)
    assert (await store.create("pods/d/new", body("new"))).revision == 6 + BUMP
    await store.close()
    assert (directory / FILE).stat().st_mode & 0o777 == 0o600


async def test_what_restore_refuses(directory: Path, tmp_path: Path) -> None:
    store = await filled(directory)
    file = tmp_path / "snapshot"
    await asyncio.to_thread(save, directory, file)
    with pytest.raises(StoreError, match="is in use by another server"):
        restore(file, directory, force=True)
    await store.close()
    with pytest.raises(StoreError, match="there is a store in"):
        restore(file, directory)
    before = (directory / FILE).read_bytes()
    restore(file, directory, force=True)
    [kept] = (name for name in names(directory) if name.startswith("replaced-") and name.endswith(FILE))
    assert (directory / kept).read_bytes() == before
    fresh = tmp_path / "fresh" / "store"
    restore(file, fresh, bump=0)
    store = store_in(fresh)
    await store.open()
    assert store.revision == 5
    await store.close()


async def test_damage_is_found(directory: Path, tmp_path: Path) -> None:
    await (await filled(directory)).close()
    file = tmp_path / "snapshot"
    save(directory, file)
    whole = file.read_bytes()
    at = whole.index(b'"again"')
    for damaged in (whole[: len(whole) // 2], whole[:at] + b'"agaim"' + whole[at + 7 :], b"", b"no database" * 100):
        file.write_bytes(damaged)
        with pytest.raises(StoreError, match=r"corrupted|is no snapshot"):
            verify(file)
        with pytest.raises(StoreError):
            restore(file, tmp_path / "elsewhere")
    assert not (tmp_path / "elsewhere").exists()


async def test_what_save_refuses(directory: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        save(directory, tmp_path / "snapshot")
    await (await filled(directory)).close()
    (tmp_path / "snapshot").write_text("mine")
    with pytest.raises(StoreError, match="exists"):
        save(directory, tmp_path / "snapshot")
    with pytest.raises(StoreError, match="No such file"):
        save(directory, tmp_path / "missing" / "snapshot")
    with pytest.raises(StoreError, match="is no snapshot"):
        verify(directory / FILE)
    with pytest.raises(StoreError, match="there is no snapshot"):
        verify(tmp_path / "nowhere")
    assert (tmp_path / "snapshot").read_text() == "mine"


async def test_a_restore_for_which_the_disk_has_no_room_leaves_the_store_as_it_was(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await filled(directory)
    await store.close()
    save(directory, tmp_path / "snapshot")

    def full(_: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    before = names(directory)
    with monkeypatch.context() as patch:
        patch.setattr("setpoint.storage.backends.sqlite_snapshot._sync", full)
        with pytest.raises(StoreError, match="No space left"):
            restore(tmp_path / "snapshot", directory, force=True)
    assert names(directory) == before
    store = store_in(directory)
    await store.open()
    assert await store.count("pods/") == 2
    await store.close()
