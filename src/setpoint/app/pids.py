"""Who runs on a data directory: pid files that a recycled pid does not fool."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.apiserver.pki import write_private
from setpoint.kit import processes

if TYPE_CHECKING:
    import psutil


def claim(file: Path) -> None:
    """Write this process's pid and start time."""
    write_private(file, f"{os.getpid()} {processes.created(os.getpid()):.2f}\n".encode())


def release(file: Path) -> None:
    """Remove the file if it is ours."""
    if _living(file) in (None, os.getpid()):
        with contextlib.suppress(FileNotFoundError):
            file.unlink()


def holder(file: Path) -> psutil.Process | None:
    """The living process that wrote the file; None when there is none."""
    pid = _living(file)
    if pid is None:
        return None
    import psutil

    return psutil.Process(pid)


def _living(file: Path) -> int | None:
    try:
        pid, started = file.read_text().split()
        return int(pid) if abs(processes.created(int(pid)) - float(started)) < 0.05 else None
    except (FileNotFoundError, ValueError, ProcessLookupError):
        return None


def stop(file: Path, seconds: float) -> bool:
    """Send SIGTERM to the holder and wait; tell whether it is gone. True when nobody held the file."""
    import psutil

    process = holder(file)
    if process is None:
        return True
    process.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            process.wait(timeout=0.1)
        except psutil.TimeoutExpired:
            continue
        break
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
