from __future__ import annotations

import io
from pathlib import Path

import pytest

from setpoint.kit.clock import RealClock
from setpoint.node import logs
from setpoint.node.logs import LogOptions, read

LOG = b"".join(b"2030-03-17T17:46:4%d.000000000Z %s F line %d\n" % (n, b"stderr" if n == 3 else b"stdout", n) for n in range(10))


async def _read(path: Path, options: LogOptions) -> bytes:
    return b"".join([chunk async for chunk in read(str(path), options, RealClock(), lambda: False)])


async def test_reading_in_all_its_forms(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(LOG)
    everything = b"".join(b"line %d\n" % n for n in range(10))
    assert await _read(path, LogOptions()) == everything
    assert await _read(path, LogOptions(tail=2)) == b"line 8\nline 9\n"
    assert await _read(path, LogOptions(tail=0)) == b""
    assert await _read(path, LogOptions(tail=100)) == everything
    assert await _read(path, LogOptions(since=1_900_000_008.0)) == b"line 8\nline 9\n"
    assert await _read(path, LogOptions(limit_bytes=9)) == b"line 0\nli"
    assert await _read(path, LogOptions(stream="Stderr")) == b"line 3\n"
    assert (await _read(path, LogOptions(tail=1, timestamps=True))) == b"2030-03-17T17:46:49.000000000Z line 9\n"
    assert await _read(tmp_path / "none", LogOptions()) == b""


async def test_the_tail_of_a_log_longer_than_a_block(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    lines = [b"2030-03-17T17:46:40.000000000Z stdout F " + b"%06d" % n + b"." * 90 + b"\n" for n in range(5000)]
    path.write_bytes(b"".join(lines))
    found = await _read(path, LogOptions(tail=3000))
    assert found.count(b"\n") == 3000
    assert found.startswith(b"002000.")


async def test_following_goes_over_a_rotation(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(LOG)
    looks = iter([True, True, False, False, False])
    seen = b""
    async for chunk in read(str(path), LogOptions(follow=True), RealClock(), lambda: next(looks, False)):
        seen += chunk
        if path.exists() and not (tmp_path / "0.log.1").exists():
            path.rename(tmp_path / "0.log.1")
            path.write_bytes(b"2030-03-17T17:46:50.000000000Z stdout F after\n")
    assert seen.endswith(b"line 9\nafter\n")


async def test_parts_of_a_line_come_together(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(b"2030-03-17T17:46:40.0Z stdout P half \n2030-03-17T17:46:40.0Z stdout F whole\n")
    assert await _read(path, LogOptions()) == b"half whole\n"


async def test_what_is_written_right_before_a_rotation_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(LOG)
    old = path.open("ab")

    looks = iter([True, True, True])
    seen = b""

    class Clock(RealClock):
        async def sleep(self, seconds: float) -> None:
            path.rename(tmp_path / "0.log.1")
            path.write_bytes(b"2030-03-17T17:46:51.000000000Z stdout F after\n")
            await super().sleep(seconds)

    told = logs._rotated

    def rotated(file: io.FileIO, place: str) -> bool:
        found = told(file, place)
        if found and not old.closed:
            old.write(b"2030-03-17T17:46:50.000000000Z stdout F late\n")
            old.close()
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logs, "_rotated", rotated)
        async for chunk in read(str(path), LogOptions(follow=True), Clock(), lambda: next(looks, False)):
            seen += chunk
    assert seen.endswith(b"line 9\nlate\nafter\n")
