from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from tests.apiserver.audit.events import event

from setpoint.apiserver.audit import log_process
from setpoint.apiserver.audit.log_file import Rotation
from setpoint.apiserver.audit.log_process import LogProcess

_LARGE = b'"large":"%b",' % (b"x" * 100_000)


def identities(path: Path) -> list[str]:
    return [orjson.loads(line)["auditID"] for line in path.read_bytes().splitlines()]


def whole(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110  another process brings it about
            await asyncio.sleep(0.01)


def process_of(log: LogProcess) -> subprocess.Popen[bytes]:
    assert log._process is not None
    return log._process


async def test_events_are_written_in_order_and_the_process_ends(tmp_path: Path) -> None:
    path = tmp_path / "log" / "audit.log"
    log = LogProcess(str(path), Rotation())
    log.open()
    for number in range(2000):
        log.put(event(identity=str(number)))
    await log.close()
    assert identities(path) == [str(number) for number in range(2000)]
    assert process_of(log).returncode == 0


async def test_an_event_does_not_wait_for_others(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    log = LogProcess(str(path), Rotation())
    log.open()
    log.put(event(identity="alone", comes=True))
    await until(lambda: len(path.read_bytes().splitlines()) == 2)
    await log.close()


async def test_headers_that_are_no_text_keep_nothing_out_of_the_log(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    log = LogProcess(str(path), Rotation())
    log.open()
    log.put(event(identity="before"))
    log.put(event(identity="mine\udcfe", agent="t/\udcff", told=b'"a":1,', code=0))
    log.put(event(identity="after"))
    await log.close()
    assert identities(path) == ["before", "mine\ufffd", "after"]
    told = orjson.loads(path.read_bytes().splitlines()[1])
    assert (told["userAgent"], told["a"]) == ("t/\ufffd", 1)


async def test_what_is_no_plain_file_is_never_rotated(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)
    log = LogProcess(str(path), Rotation(megabytes=1))
    log.open()
    reading = asyncio.ensure_future(asyncio.to_thread(whole, reader))
    for number in range(20):
        log.put(event(identity=str(number), told=_LARGE, code=0))
    await log.close()
    lines = (await reading).splitlines()
    assert [orjson.loads(line)["auditID"] for line in lines] == [str(number) for number in range(20)]
    assert path.is_fifo()


async def test_a_full_buffer_drops_new_events_and_counts_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_process, "MOST_BYTES", 1_000_000)
    log = LogProcess(str(tmp_path / "audit.log"), Rotation())
    log.open()
    for number in range(15):  # no answer is read meanwhile
        log.put(event(identity=str(number), told=_LARGE, code=0))
    assert log.dropped == 5
    await log.close()
    assert identities(tmp_path / "audit.log") == [str(number) for number in range(10)]


async def test_a_process_that_is_killed_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_process, "_AGAIN_AFTER", 0.05)
    path = tmp_path / "audit.log"
    log = LogProcess(str(path), Rotation())
    log.open()
    first = process_of(log)
    first.send_signal(signal.SIGSTOP)
    log.put(event(identity="lost", comes=True, told=2 * _LARGE, code=0))  # too large to be gathered with others
    first.kill()
    await until(lambda: log.dropped)
    log.put(event(identity="meanwhile"))
    await until(path.read_bytes)
    assert process_of(log) is not first
    await log.close()
    assert identities(path) == ["meanwhile"]
    assert log.dropped == 2


async def test_a_file_that_takes_long_to_open_again_stops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_process, "_AGAIN_AFTER", 0.0)
    path = tmp_path / "audit.log"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    log = LogProcess(str(path), Rotation())
    log.open()
    os.close(reader)
    first = process_of(log)
    first.kill()
    await until(lambda: log._link is None)
    await asyncio.sleep(0.05)
    log.put(event())
    await log.close()  # while a thread waits for a reader
    assert log.dropped == 1
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))  # let it go
    await until(lambda: process_of(log) is not first and process_of(log).poll() is not None)
    assert log._link is None


async def test_a_large_event_takes_no_other_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_process, "MOST_BYTES", 1_000)
    log = LogProcess(str(tmp_path / "audit.log"), Rotation())
    log.open()
    log.put(event(identity="small"))
    log.put(event(identity="large", told=_LARGE, code=0))
    log.put(event(identity="too much"))
    await log.close()
    log.put(event(identity="late"))
    assert identities(tmp_path / "audit.log") == ["small", "large"]
    assert log.dropped == 2


async def test_what_cannot_be_told_takes_nothing_along(tmp_path: Path) -> None:
    log = LogProcess(str(tmp_path / "audit.log"), Rotation())
    log.open()
    log.put(event(identity="before"))
    log.put(event(identity=object()))
    log.put(event(identity="\ud800"))
    await log.close()
    assert identities(tmp_path / "audit.log") == ["before", "\ufffd"]
    assert log.dropped == 1


async def test_signals_for_the_server_do_not_end_it(tmp_path: Path) -> None:
    log = LogProcess(str(tmp_path / "audit.log"), Rotation())
    log.open()
    log.put(event(identity="first"))
    await until((tmp_path / "audit.log").read_bytes)
    for number in (signal.SIGINT, signal.SIGTERM):
        process_of(log).send_signal(number)
    log.put(event(identity="second"))
    await log.close()
    assert identities(tmp_path / "audit.log") == ["first", "second"]


_SERVER = """
import asyncio, os, signal, sys
from setpoint.apiserver.audit.log_file import Rotation
from setpoint.apiserver.audit.log_process import LogProcess
from tests.apiserver.audit.events import event
async def serve():
    log = LogProcess(sys.argv[1], Rotation())
    log.open()
    for number in range(300):
        log.put(event(identity=str(number)))
    log._hand_over()
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(serve())
"""


async def test_what_was_sent_is_written_though_the_server_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", _SERVER, str(path))
    assert await server.wait() == -signal.SIGKILL
    await until(lambda: len(path.read_bytes().splitlines()) == 300)
    assert identities(path) == [str(number) for number in range(300)]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
async def test_a_disk_that_is_full_stops_nobody() -> None:
    log = LogProcess("/dev/full", Rotation())
    log.open()
    before = log_process._DROPPED.labels("log").value
    log.put(event(comes=True))
    await log.close()
    assert log_process._DROPPED.labels("log").value - before == 2
