"""What Linux tells of processes: identity (pid and start time), session, marker, descendants."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator

MARKER = "SETPOINT_CONTAINER_ID"
POD_MARKER = "SETPOINT_POD_UID"


def boot_id() -> str:
    """Names this run of the host; empty where the system does not say."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def stat(pid: int) -> tuple[str, int, int, int] | None:
    """(state, parent, session, start in clock ticks since boot) of `pid`; None if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    fields = text[text.rindex(")") + 2 :].split()
    return fields[0], int(fields[1]), int(fields[3]), int(fields[19])


def start_ticks(pid: int) -> int:
    """With the pid, the identity of a process: pids are used again. 0 if it is gone."""
    found = stat(pid)
    return found[3] if found else 0


def alive(pid: int, ticks: int) -> bool:
    """Whether the process that had `pid` and started at `ticks` still runs (a zombie does not)."""
    found = stat(pid)
    return found is not None and found[0] not in "ZX" and (not ticks or found[3] == ticks)


def processes() -> Iterator[int]:
    """All pids of the host."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    for name in names:
        if name.isdigit():
            yield int(name)


def marked(pid: int, marker: str, value: str) -> bool:
    """Whether the environment that `pid` was started with holds `marker=value`."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            environment = file.read()
    except OSError:
        return False
    return f"{marker}={value}".encode() in environment.split(b"\0")


def network() -> str:
    """The network namespace of this process; "" where there are none."""
    try:
        return os.readlink("/proc/self/ns/net")
    except OSError:
        return ""


def descendants(root: int) -> list[int]:
    """All living processes below `root`."""
    children: dict[int, list[int]] = {}
    for pid in processes():
        found = stat(pid)
        if found and found[0] not in "ZX":
            children.setdefault(found[1], []).append(pid)
    out: list[int] = []
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        out += below
        waiting += below
    return out


def kill(pids: Iterable[int], number: int = signal.SIGKILL) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            continue


def kill_until_none(find: Callable[[], list[int]], seconds: float = 2.0) -> None:
    """Kill what `find` finds until it finds nothing: a process may fork while it is being killed."""
    until = time.monotonic() + seconds
    while (pids := find()) and time.monotonic() < until:
        kill(pids)
        time.sleep(0.002)


def leftovers(pod_uid: str, sessions: Iterable[int]) -> list[int]:
    """What is left of a pod whose supervisor is gone: its containers' sessions, and whatever carries its marker."""
    wanted = set(sessions)
    out = []
    for pid in processes():
        found = stat(pid)
        if found is None or found[0] in "ZX" or pid == os.getpid():
            continue
        if found[2] in wanted or marked(pid, POD_MARKER, pod_uid):
            out.append(pid)
    return out
