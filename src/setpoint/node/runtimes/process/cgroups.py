"""Which control groups a pod's containers get, and with which values (as kubelet sets them), for both versions.

    <controller's mount>/setpoint-<node>/pod<uid>/<container id>

A pod's group holds the limit on its processes, a container's its memory and CPU. The node's own group is at the root, as
kubelet's is.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from setpoint.node.runtime import Limits

WANTED = ("memory", "cpu", "pids")
_PERIOD = 100_000  # microseconds, kubelet's
_MIN_QUOTA, _MIN_SHARES, _MAX_SHARES = 1000, 2, 262_144
Value = tuple[str, str, bool]  # file, value, whether the container may not run without it


class Hierarchy(Struct, frozen=True):
    """Where some controllers are: a mount of version 1, or the one of version 2."""

    path: str
    version: int
    controllers: Sequence[str]


class Cgroups(Struct, frozen=True):
    """What this node may use; `missing` are the controllers that it may not."""

    name: str
    hierarchies: Sequence[Hierarchy] = ()
    missing: Sequence[str] = ()
    max_pids: int = 0

    @property
    def warning(self) -> str:
        if not self.missing:
            return ""
        return f"no limits on {', '.join(self.missing)}: this host's control groups cannot be written by this user"

    def wanted(self, pod_uid: str, container_id: str, limits: Limits) -> Mapping[str, Any]:
        """For the supervisor: what to make, and what the container enters."""
        make: list[tuple[str, list[Value]]] = []
        enter = []
        for hierarchy in self.hierarchies:
            pod = self._pod(hierarchy, pod_uid)
            leaf = os.path.join(pod, container_id)
            # anew, if need be: another agent may have swept it away while there was no pod in it
            make.append((os.path.dirname(pod), list(_passed_on(hierarchy))))
            make.append((pod, list(_pod_values(hierarchy, self.max_pids))))
            make.append((leaf, list(_values(hierarchy, limits))))
            enter.append(leaf)
        return {"make": make, "enter": enter}

    def pod(self, pod_uid: str) -> list[str]:
        """The pod's groups."""
        return [self._pod(hierarchy, pod_uid) for hierarchy in self.hierarchies]

    def node(self) -> list[str]:
        """The node's groups."""
        return [os.path.join(hierarchy.path, self.name) for hierarchy in self.hierarchies]

    def of_others(self) -> list[str]:
        """The groups of the host's other nodes, of which some may have been killed."""
        own = set(self.node())
        found = (path for hierarchy in self.hierarchies for path in glob.glob(os.path.join(hierarchy.path, "setpoint-??????")))
        return [path for path in found if path not in own]

    def _pod(self, hierarchy: Hierarchy, pod_uid: str) -> str:
        return os.path.join(hierarchy.path, self.name, f"pod{pod_uid}")


def find(directory: str, max_pids: int) -> Cgroups:
    """Try what this user may do, by doing it."""
    name = "setpoint-" + hashlib.sha256(directory.encode()).hexdigest()[:6]
    usable = []
    for hierarchy in _mounted():
        controllers = _enable(hierarchy, name)
        if controllers:
            usable.append(Hierarchy(hierarchy.path, hierarchy.version, controllers))
    have = {controller for hierarchy in usable for controller in hierarchy.controllers}
    return Cgroups(name, usable, [each for each in WANTED if each not in have], max_pids)


def _mounted() -> Iterator[Hierarchy]:
    try:
        with open("/proc/self/mounts", encoding="utf-8") as file:
            rows = [line.split() for line in file]
    except OSError:
        return
    seen: set[str] = set()
    for _, path, kind, options, *_ in rows:
        if kind == "cgroup":
            controllers = [each for each in WANTED if each in options.split(",") and each not in seen]
        elif kind == "cgroup2":
            controllers = [each for each in WANTED if each in _read(path, "cgroup.controllers").split() and each not in seen]
        else:
            continue
        seen.update(controllers)
        if controllers:
            yield Hierarchy(path, 1 if kind == "cgroup" else 2, controllers)


def _enable(hierarchy: Hierarchy, name: str) -> list[str]:
    """Make the node's group; the controllers that can be used in it."""
    place = os.path.join(hierarchy.path, name)
    if hierarchy.version == 2:
        _delegate(hierarchy.path, hierarchy.controllers)
    try:
        os.makedirs(place, exist_ok=True)
    except OSError:
        return []
    if hierarchy.version == 1:
        return list(hierarchy.controllers)
    _delegate(place, hierarchy.controllers)
    found = _read(place, "cgroup.subtree_control").split()
    return [each for each in hierarchy.controllers if each in found]


def _delegate(path: str, controllers: Sequence[str]) -> None:
    for controller in controllers:
        with contextlib.suppress(OSError), open(os.path.join(path, "cgroup.subtree_control"), "w", encoding="ascii") as file:
            file.write(f"+{controller}")


def _read(directory: str, name: str) -> str:
    try:
        with open(os.path.join(directory, name), encoding="ascii") as file:
            return file.read()
    except OSError:
        return ""


def _passed_on(hierarchy: Hierarchy) -> Iterator[Value]:
    """What lets the groups below have limits, too."""
    if hierarchy.version == 2:
        yield "cgroup.subtree_control", " ".join(f"+{each}" for each in hierarchy.controllers), True


def _pod_values(hierarchy: Hierarchy, max_pids: int) -> Iterator[Value]:
    yield from _passed_on(hierarchy)
    if "pids" in hierarchy.controllers and max_pids:
        yield "pids.max", str(max_pids), True


def _values(hierarchy: Hierarchy, limits: Limits) -> Iterator[Value]:
    if "memory" in hierarchy.controllers and limits.memory_bytes:
        yield from _memory(hierarchy.version, str(limits.memory_bytes))
    if "cpu" in hierarchy.controllers:
        yield from _cpu(hierarchy.version, limits)


def _memory(version: int, amount: str) -> Iterator[Value]:
    """The limit, and no swap beside it (kubelet's NoSwap); all of a container ends with one killed process (version 2 only)."""
    if version == 1:
        yield "memory.limit_in_bytes", amount, True
        yield "memory.memsw.limit_in_bytes", amount, False
        return
    yield "memory.max", amount, True
    yield "memory.swap.max", "0", False
    yield "memory.oom.group", "1", False


def _cpu(version: int, limits: Limits) -> Iterator[Value]:
    shares = min(max(limits.cpu_request_millis * 1024 // 1000, _MIN_SHARES), _MAX_SHARES)
    quota = max(limits.cpu_millis * _PERIOD // 1000, _MIN_QUOTA) if limits.cpu_millis else 0
    if version == 1:
        yield "cpu.shares", str(shares), True
        if quota:
            yield "cpu.cfs_period_us", str(_PERIOD), True
            yield "cpu.cfs_quota_us", str(quota), True
        return
    yield "cpu.weight", str(1 + (shares - 2) * 9999 // 262_142), True
    if quota:
        yield "cpu.max", f"{quota} {_PERIOD}", True
