from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest

from setpoint.apiserver.audit import log_file
from setpoint.apiserver.audit.log_file import LogFile, Rotation


def listed(directory: Path) -> list[Path]:
    return sorted(directory.iterdir())


async def test_lines_are_written_in_order_into_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "log" / "audit.log"
    sink = LogFile(str(path), Rotation())
    sink.open()
    for number in range(2000):
        sink.put([b"%d\n" % number])
    await sink.close()
    assert path.read_bytes().split() == [b"%d" % number for number in range(2000)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.write_text("before\n")
    path.chmod(0o644)
    sink = LogFile(str(path), Rotation())
    sink.open()
    sink.put([b"after\n"])
    await sink.close()
    assert path.read_text() == "before\nafter\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_files_are_rotated_and_the_oldest_go(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    sink = LogFile(str(path), Rotation(megabytes=1, backups=2))
    sink.open()
    for _ in range(6):
        for _ in range(6):
            sink.put([b"x" * 150_000 + b"\n"])
        await sink.close()
        sink.open()
    await sink.close()
    files = listed(tmp_path)
    assert len(files) == 3
    assert all(each.name.startswith("audit-2") for each in files if each != path)
    assert all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in files)
    assert all(each.stat().st_size <= 1024 * 1024 for each in files)


async def test_what_is_no_plain_file_is_never_rotated(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    os.mkfifo(path)
    reading = asyncio.ensure_future(asyncio.to_thread(path.read_bytes))
    sink = LogFile(str(path), Rotation(megabytes=1))
    await asyncio.to_thread(sink.open)
    for _ in range(20):
        sink.put([b"x" * 100_000 + b"\n"])
    await sink.close()
    assert len(await reading) == 20 * 100_001
    assert listed(tmp_path) == [path]


async def test_old_files_go_by_age(tmp_path: Path) -> None:
    path, old = tmp_path / "audit.log", tmp_path / "audit-2020-01-01T00-00-00.000.log"
    old.write_text("old\n")
    os.utime(old, (0, 0))
    path.write_bytes(b"x" * 1024 * 1024)
    sink = LogFile(str(path), Rotation(megabytes=1, days=3))
    sink.open()
    sink.put([b"new\n"])
    await sink.close()
    assert not old.exists()
    assert path.read_text() == "new\n"


async def test_a_full_buffer_drops_new_lines_and_counts_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = LogFile(str(tmp_path / "audit.log"), Rotation())
    monkeypatch.setattr(log_file, "CAPACITY", 10)
    for number in range(15):  # nobody writes yet
        sink.put([b"%d\n" % number])
    assert sink.dropped == 5
    sink.open()
    await sink.close()
    assert (tmp_path / "audit.log").read_bytes().split() == [b"%d" % number for number in range(10)]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
async def test_a_disk_that_is_full_stops_nobody() -> None:
    sink = LogFile("/dev/full", Rotation())
    sink.open()
    sink.put([b"lost\n"])
    await sink.close()
    assert sink._written == 1
