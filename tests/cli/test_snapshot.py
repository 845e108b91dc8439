"""`setpoint snapshot`: what it prints and refuses. What a snapshot is, is tested with the store."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from setpoint.app import pids
from setpoint.app.data_dir import DataDir
from setpoint.app.options import StartError
from setpoint.cli import snapshot
from setpoint.kit.clock import RealClock
from setpoint.storage.backends.sqlite import sqlite_store
from setpoint.testing.storage import body


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    async def fill() -> None:
        store = sqlite_store(tmp_path / "data" / "store", RealClock())
        await store.open()
        await store.create("pods/d/a", body("a"))
        await store.update("pods/d/a", body("b"))
        await store.close()

    asyncio.run(fill())
    return tmp_path / "data"


def test_save_verify_restore(data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "snapshot"
    snapshot.save(file, data_dir)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"saved {file}"
    assert [line.split(":")[0] for line in said[1:]] == ["revision", "objects", "writes", "size", "taken", "contents"]
    assert said[1:4] == ["revision: 2", "objects:  1", "writes:   2"]
    snapshot.verify(file)
    assert capsys.readouterr().out.splitlines() == [f"{file} is whole", *said[1:]]
    snapshot.restore(file, tmp_path / "other", bump_revision=0)
    assert capsys.readouterr().out.splitlines() == [f"restored {file} to {tmp_path / 'other'}", *said[1:]]
    with pytest.raises(StartError, match="there is a store in"):
        snapshot.restore(file, data_dir)


def test_a_cluster_that_runs_is_left_alone(data_dir: Path, tmp_path: Path) -> None:
    file = tmp_path / "snapshot"
    snapshot.save(file, data_dir)
    DataDir(data_dir).prepare()
    pids.claim(DataDir(data_dir).pid_file("up"))
    with pytest.raises(StartError, match=f"is in use by process {os.getpid()}"):
        snapshot.restore(file, data_dir, force=True)


def test_errors_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="there is no store in"):
        snapshot.save(tmp_path / "snapshot", tmp_path / "nowhere")
    (tmp_path / "text").write_text("text")
    with pytest.raises(StartError, match="is corrupted: file is not a database"):
        snapshot.verify(tmp_path / "text")
