"""SIGKILL of a process that only writes to a store, again and again: cheap, so often.

The process tells each acknowledged write on its standard output; what stands there must be found by the next process, and every
revision means one thing for ever, whoever looks. `SETPOINT_TORTURE=300` kills it as many times.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from setpoint.kit.clock import RealClock
from setpoint.storage.backends.sqlite import sqlite_store
from setpoint.storage.protocol import Event
from setpoint.testing.storage.rig import collect

KILLS = int(os.environ.get("SETPOINT_TORTURE", "2"))

#: eight writers; a line is `revision key token`, written once the store has said that it is durable
WRITER = """
import asyncio, os, sys
from pathlib import Path
from setpoint.kit.clock import RealClock
from setpoint.storage.backends.sqlite import sqlite_store
from setpoint.testing.storage import body

async def write(store, life, number):
    key = f"pods/d/{number}"
    for count in range(1_000_000):
        token = f"{life}-{number}-{count}"
        head = await store.head(key)
        if head is None:
            done = await store.create(key, body(token))
        elif count % 5 == 4:
            done, token = await store.delete(key), "-"
        else:
            done = await store.update(key, body(token))
        os.write(1, f"{done.revision} {key} {token}\\n".encode())

async def main():
    store = sqlite_store(Path(sys.argv[1]), RealClock())
    await store.open()
    os.write(1, b"open\\n")
    await asyncio.gather(*(write(store, sys.argv[2], number) for number in range(8)))

asyncio.run(main())
"""


def live_and_die(directory: Path, life: int, seconds: float) -> list[tuple[int, str, str]]:
    """Let a writer run for some time after it has opened the store; what was acknowledged to it."""
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(directory), str(life)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"open\n"
    killer = time.monotonic() + seconds
    lines: list[bytes] = []
    os.set_blocking(process.stdout.fileno(), False)
    while time.monotonic() < killer:
        lines += process.stdout.readlines()
        time.sleep(0.001)
    process.kill()
    process.wait()
    os.set_blocking(process.stdout.fileno(), True)
    lines += process.stdout.readlines()
    process.stdout.close()
    return [_parsed(line) for line in b"".join(lines).splitlines()]


def _parsed(line: bytes) -> tuple[int, str, str]:
    revision, key, token = line.decode().split()
    return int(revision), key, token


async def events(directory: Path, after: int) -> list[Event]:
    """What a watch that resumes after `after` is told."""
    store = sqlite_store(directory, RealClock())
    await store.open()
    async with await store.watch("pods/", after=after) as watch:
        told = await collect(watch, store.revision) if store.revision > after else []
    await store.close()
    return told


def test_kill_store(tmp_path: Path) -> None:
    rng = random.Random()  # noqa: S311  no secret
    known: dict[int, tuple[str, str]] = {}
    seen = 0
    for life in range(KILLS):
        acknowledged = live_and_die(tmp_path, life, rng.random() * 0.15)
        told = {event.revision: (event.key, _token(event)) for event in asyncio.run(events(tmp_path, seen))}
        assert [*told] == list(range(seen + 1, max(told, default=seen) + 1)), "a gap"
        known |= told
        seen = max(told, default=seen)
        for revision, key, token in acknowledged:
            assert known.get(revision) == (key, token)
    tokens = [token for _, token in known.values() if token != "-"]
    assert len(tokens) == len(set(tokens)), "a write was done twice"
    assert seen > KILLS


def _token(event: Event) -> str:
    return "-" if event.record is None else event.record.value.decode().split('"')[3]


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_the_system_is_asked_to_sync_before_the_answer(tmp_path: Path) -> None:
    """By the system's own account: each line on standard output follows a sync that follows the last write to the log."""
    trace = tmp_path / "trace"
    command = ["strace", "-f", "-y", "-e", "trace=pwrite64,fdatasync,fsync,write", "-o", str(trace), sys.executable, "-c", WRITER]
    process = subprocess.Popen(
        [*command, str(tmp_path / "data"), "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(60)]
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    if not lines[-1]:
        pytest.skip("strace may not trace here")
    answers = syncs = 0
    unsynced = False
    for call in trace.read_text(errors="replace").splitlines():
        if "-wal>" in call and "pwrite64(" in call:
            unsynced = True
        elif ("-wal>" in call and "sync(" in call and "unfinished" not in call) or "sync resumed" in call:
            unsynced = False
            syncs += 1
        elif "write(1<" in call and "open" not in call:
            answers += 1
            assert not unsynced, call
    assert syncs >= 5
    assert answers > 20
