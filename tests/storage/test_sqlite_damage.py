"""Damage is refused in one clear line that says what to do, never repaired in silence."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from setpoint.kit.clock import RealClock
from setpoint.storage.backends.sqlite import sqlite_store
from setpoint.storage.backends.sqlite_files import FILE
from setpoint.storage.protocol import StoreError
from setpoint.testing.storage import body

#: a server that writes forty objects and dies without a word
VICTIM = """
import asyncio, os, sys
from pathlib import Path
from setpoint.kit.clock import RealClock
from setpoint.storage.backends.sqlite import sqlite_store
from setpoint.testing.storage import body

async def main():
    store = sqlite_store(Path(sys.argv[1]), RealClock())
    await store.open()
    for number in range(40):
        await store.create(f"pods/d/{number}", body("mark" * 100))
    os.kill(os.getpid(), 9)

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a killed server leaves: nearly everything is in the log still."""
    directory = tmp_path_factory.mktemp("killed") / "store"
    subprocess.run([sys.executable, "-c", VICTIM, str(directory)], check=False, timeout=60)
    return directory


@pytest.fixture
def directory(killed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(killed, tmp_path / "store"))


async def complaint(directory: Path) -> str:
    store = sqlite_store(directory, RealClock())
    with pytest.raises(StoreError) as caught:
        await store.open()
    return str(caught.value)


async def count(directory: Path) -> int:
    store = sqlite_store(directory, RealClock())
    await store.open()
    try:
        return await store.count("pods/")
    finally:
        await store.close()


def spoil(path: Path, where: bytes | int) -> None:
    """Change one byte."""
    content = bytearray(path.read_bytes())
    place = content.rindex(where) if isinstance(where, bytes) else where
    content[place] ^= 1
    path.write_bytes(content)


def cut_short(path: Path, part: float) -> None:
    os.truncate(path, int(path.stat().st_size * part))


async def test_nothing_is_lost_by_a_kill(directory: Path) -> None:
    assert await count(directory) == 40
    assert await count(directory) == 40


LOG = f"{FILE}-wal"
DAMAGE: dict[str, Callable[[Path], None]] = {
    "log cut short": lambda directory: cut_short(directory / LOG, 0.5),
    "log missing": lambda directory: (directory / LOG).unlink(),
    "log empty": lambda directory: cut_short(directory / LOG, 0),
    "bit in the log": lambda directory: spoil(directory / LOG, 60_000),
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_a_damaged_log(damage: str, directory: Path) -> None:
    DAMAGE[damage](directory)
    for _ in range(2):
        text = await complaint(directory)
        assert "pages of acknowledged writes are missing" in text
        assert f"setpoint snapshot restore FILE --data-dir {directory.parent} --force" in text
    (directory / f"{FILE}-shm").unlink()
    assert await count(directory) < 40, "on the user's word it goes on without them"


async def test_a_log_that_was_copied_without_its_index(directory: Path) -> None:
    (directory / f"{FILE}-shm").unlink()
    assert await count(directory) == 40


@pytest.mark.parametrize("how", ["missing", "empty"])
async def test_a_database_that_is_gone(how: str, directory: Path) -> None:
    assert await count(directory) == 40
    if how == "missing":
        (directory / FILE).unlink()
    else:
        cut_short(directory / FILE, 0)
    text = await complaint(directory)
    assert f"is {how}, though there was data; restore a snapshot" in text


async def test_a_database_cut_short(directory: Path) -> None:
    assert await count(directory) == 40
    cut_short(directory / FILE, 0.5)
    text = await complaint(directory)
    assert "is corrupted" in text
    assert "setpoint snapshot restore" in text


async def test_one_bit_of_one_value(directory: Path) -> None:
    assert await count(directory) == 40
    spoil(directory / FILE, b"markmark")
    text = await complaint(directory)
    assert "does not have its checksum" in text
    assert "setpoint snapshot restore" in text


async def test_a_start_that_was_killed_at_once(tmp_path: Path) -> None:
    """The database was made and nothing was ever in it."""
    (tmp_path / FILE).touch()
    assert await count(tmp_path) == 0


async def test_a_directory_from_before_there_were_checksums(tmp_path: Path) -> None:
    store = sqlite_store(tmp_path, RealClock())
    await store.open()
    await store.create("pods/d/a", body("a"))
    await store._journal._journal._call(  # type: ignore[attr-defined]  # below the seal
        lambda: store._journal._journal._connection.execute("UPDATE log SET checksum = 0")  # type: ignore[attr-defined]  # below the seal
    )
    await store.close()
    assert await count(tmp_path) == 1
