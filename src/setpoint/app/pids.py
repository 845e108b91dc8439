"""Who runs on a data directory: pid files that a recycled pid does not fool."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

import psutil

from setpoint.apiserver.pki import write_private


def claim(file: Path) -> None:
    """Write this process's pid and start time."""
    write_private(file, f"{os.getpid()} {psutil.Process().create_time():.2f}\n".encode())


def release(file: Path) -> None:
    """Remove the file if it is ours."""
    running = holder(file)
    if running is None or running.pid == os.getpid():
        with contextlib.suppress(FileNotFoundError):
            file.unlink()


def holder(file: Path) -> psutil.Process | None:
    """The living process that wrote the file; None when there is none."""
    try:
        pid, started = file.read_text().split()
        process = psutil.Process(int(pid))
        return process if abs(process.create_time() - float(started)) < 0.05 else None
    except (FileNotFoundError, ValueError, psutil.NoSuchProcess):
        return None


def stop(file: Path, seconds: float) -> bool:
    """Send SIGTERM to the holder and wait; tell whether it is gone. True when nobody held the file."""
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
