"""A container's control groups: made with their limits, entered before exec, asked for out-of-memory kills, removed.

The same for both versions: the agent says which directories, files and values (`runtimes/process/cgroups.py`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.node.supervisor import procfs

_EVENTS = ("memory.events", "memory.oom_control")  # version 2, version 1
_LATELY = 60.0  # seconds
_PATIENCE = 1.0  # seconds for the kernel to let go of what was killed


def make(wanted: Mapping[str, Any]) -> None:
    """Make the directories of `make` with their values; raises OSError for a value that must be kept and is not."""
    for directory, values in wanted.get("make", ()):
        os.makedirs(directory, mode=0o755, exist_ok=True)
        for name, value, must in values:
            try:
                _write(os.path.join(directory, name), value)
            except OSError as error:
                if must:
                    raise OSError(error.errno, f"cannot set {name} to {value}: {error.strerror}") from error


def enter(directories: Sequence[str]) -> None:
    """Put this process into them."""
    for directory in directories:
        _write(os.path.join(directory, "cgroup.procs"), "0")


def oom_killed(directories: Sequence[str]) -> bool:
    """Whether the kernel killed a process of theirs for want of memory."""
    for directory in directories:
        for name in _EVENTS:
            try:
                with open(os.path.join(directory, name), encoding="ascii") as file:
                    counts = dict(line.split(maxsplit=1) for line in file if " " in line)
            except OSError:
                continue
            if int(counts.get("oom_kill", "0")) > 0:
                return True
    return False


def members(directories: Sequence[str]) -> list[int]:
    """Every process in them and below."""
    found: list[int] = []
    for top in directories:
        for place, _, _ in os.walk(top):
            try:
                with open(os.path.join(place, "cgroup.procs"), encoding="ascii") as file:
                    found += [int(line) for line in file]
            except OSError:
                continue
    return found


def end(directories: Sequence[str]) -> None:
    """Kill whatever is in them, however well it hides, and remove them."""
    procfs.kill_until_none(lambda: members(directories), _PATIENCE)
    remove(directories)


def remove(directories: Sequence[str], seconds: float = _PATIENCE) -> None:
    """Remove them with all below, which must be empty of processes or become so within `seconds`."""
    until = time.monotonic() + seconds
    left = list(directories)
    while (left := [directory for directory in left if not _removed(directory)]) and time.monotonic() < until:
        time.sleep(0.005)


def sweep(directories: Sequence[str]) -> None:
    """Remove what is below them and has no processes."""
    for directory in directories:
        try:
            with os.scandir(directory) as entries:
                below = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        remove(below, 0)


def sweep_old(directories: Sequence[str]) -> None:
    """Remove those without processes of which nothing was made lately: their agents were killed, or have no pods."""
    for directory in directories:
        try:
            newest = max(os.stat(place).st_mtime for place, _, _ in os.walk(directory))
        except (OSError, ValueError):
            continue
        if newest < time.time() - _LATELY and not members([directory]):
            remove([directory], 0)


def _removed(directory: str) -> bool:
    try:
        with os.scandir(directory) as entries:
            below = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        for path in below:
            _removed(path)
        os.rmdir(directory)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _write(path: str, value: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(value)
