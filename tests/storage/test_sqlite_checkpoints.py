from __future__ import annotations

import threading
from pathlib import Path

import pytest

from setpoint.kit.clock import RealClock
from setpoint.storage.backends import sqlite_checkpoints
from setpoint.storage.backends.sqlite import sqlite_store
from setpoint.storage.protocol import Encoded


def size_of(directory: Path) -> int:
    return sum(file.stat().st_size for file in directory.glob("*-wal"))


async def test_the_log_is_copied_beside_the_writer_and_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_checkpoints, "EVERY", 50)
    by: list[str] = []
    checkpoint = sqlite_checkpoints.Checkpoints._checkpoint

    def spy(self: sqlite_checkpoints.Checkpoints, connection: object, who: str) -> None:
        by.append(who)
        assert (threading.current_thread().name == "storage-checkpoint") == (who == "thread")
        checkpoint(self, connection, who)  # type: ignore[arg-type]  # only passed on

    monkeypatch.setattr(sqlite_checkpoints.Checkpoints, "_checkpoint", spy)
    store = sqlite_store(tmp_path, RealClock())
    await store.open()
    value = b"{" + b"x" * 8000 + b"}"
    for number in range(600):
        await store.create(f"pods/d/{number}", lambda _: Encoded(value))
    assert by.count("thread") >= 3
    assert 0 <= by.count("thread") - by.count("writer") <= 1
    assert size_of(tmp_path) < 600 * 8000  # all of it went through the log, which is shorter
    await store.close()
    store = sqlite_store(tmp_path, RealClock())
    await store.open()
    assert await store.count("pods/") == 600
    await store.close()


async def test_a_store_is_closed_while_a_checkpoint_is_under_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_checkpoints, "EVERY", 1)
    for round_ in range(5):
        store = sqlite_store(tmp_path, RealClock())
        await store.open()
        await store.create(f"pods/d/{round_}", lambda _: Encoded(b"{}"))
        await store.close()
    assert not any(thread.name == "storage-checkpoint" for thread in threading.enumerate())


async def test_writes_go_on_where_the_system_has_no_thread_for_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NoThread(threading.Thread):
        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    store = sqlite_store(tmp_path, RealClock())
    await store.open()
    monkeypatch.setattr(sqlite_checkpoints, "EVERY", 1)
    monkeypatch.setattr(sqlite_checkpoints, "Thread", NoThread)
    for number in range(3):
        await store.create(f"pods/d/{number}", lambda _: Encoded(b"{}"))
    await store.close()
