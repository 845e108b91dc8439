"""The containers of one pod: their processes, streams, logs and records."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from setpoint.node.supervisor import cgroups, launch, mounts, procfs, records
from setpoint.node.supervisor.attached import Attached, Loop
from setpoint.node.supervisor.logfile import LineWriter, LogFile

CHUNK = 64 * 1024


@dataclass
class Container:
    """A container that was started; `exit` is set once it ended."""

    id: str
    record: dict[str, Any]
    launch: launch.Launch
    pid: int
    log: LogFile
    attached: Attached
    writers: dict[int, LineWriter] = field(default_factory=dict)  # by the descriptor that is read
    names: dict[int, str] = field(default_factory=dict)
    stdin: int = -1  # the pipe's writing end, or the terminal's master
    tty: bool = False
    stdin_once: bool = False
    paused: set[int] = field(default_factory=set)  # descriptors that are not read until clients have caught up


def parse_launch(spec: Mapping[str, Any]) -> launch.Launch:
    """The JSON of a request as a Launch."""
    known = {name: value for name, value in spec.items() if name in launch.Launch.__dataclass_fields__}
    known["mounts"] = [mounts.Mount(*entry) for entry in spec.get("mounts", ())]
    return launch.Launch(**known)


class Containers:
    """All of them. `tell` sends an event to the agents."""

    def __init__(self, directory: str, loop: Loop, tell: Callable[[dict[str, Any]], None]) -> None:
        self.directory = directory
        self._loop = loop
        self._tell = tell
        self.by_id: dict[str, Container] = {}
        self.execs: dict[int, str] = {}  # pid -> the agent's name for it
        os.makedirs(os.path.join(directory, records.CONTAINERS), mode=0o700, exist_ok=True)
        os.makedirs(os.path.join(directory, "root"), mode=0o755, exist_ok=True)

    def start(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Run a container; its record. A second start of the same id answers with the first's record."""
        if spec["id"] in self.by_id:
            return self.by_id[spec["id"]].record
        groups = spec.get("cgroups") or {}
        wanted = parse_launch({**spec, "root": os.path.join(self.directory, "root"), "cgroups": groups.get("enter", ())})
        cgroups.make(groups)
        log = LogFile(spec["log"], spec.get("log_max_bytes", 10 << 20), spec.get("log_max_files", 5))
        streams = _Streams(tty=wanted.tty, stdin=bool(spec.get("stdin")))
        try:
            pid = launch.start(wanted, *streams.inner)
        except OSError:
            streams.close()
            log.close()
            raise
        streams.close_inner()
        record = {
            "id": spec["id"],
            "name": spec["name"],
            "attempt": spec["attempt"],
            "pid": pid,
            "startTicks": procfs.start_ticks(pid),
            "bootID": procfs.boot_id(),
            "startedAt": time.time(),
            "log": spec["log"],
            "image": spec.get("image", ""),
            "imageID": spec.get("imageID", ""),
        }
        try:
            records.write(records.container_path(self.directory, spec["id"]), record)
        except OSError:  # a container without a record would be lost to the next agent
            os.killpg(pid, signal.SIGKILL)
            streams.close_outer()
            log.close()
            raise
        attached = Attached(self._loop, lambda name: self._pause(container, name), lambda name: self._resume(container, name))
        container = Container(spec["id"], record, wanted, pid, log, attached, stdin=streams.stdin, tty=wanted.tty)
        container.stdin_once = bool(spec.get("stdinOnce"))
        for name, descriptor in streams.outer.items():
            container.writers[descriptor] = LineWriter(log, name)
            container.names[descriptor] = name
            self._loop.watch(descriptor, functools.partial(self._read, container))
        self.by_id[container.id] = container
        return record

    def _read(self, container: Container, descriptor: int) -> bool:
        """Take what came on one stream; tells whether there may be more."""
        try:
            data = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return False
        except OSError:  # a terminal whose last user is gone
            data = b""
        if not data:
            self._end_stream(container, descriptor)
            return False
        container.writers[descriptor].feed(data)
        container.attached.feed(container.names[descriptor], data)
        return True

    def _pause(self, container: Container, name: str) -> None:
        for descriptor in [each for each, known in container.names.items() if known == name and each not in container.paused]:
            self._loop.unwatch(descriptor)
            container.paused.add(descriptor)

    def _resume(self, container: Container, name: str) -> None:
        for descriptor in [each for each in container.paused if container.names[each] == name]:
            container.paused.discard(descriptor)
            self._loop.watch(descriptor, functools.partial(self._read, container))

    def _end_stream(self, container: Container, descriptor: int) -> None:
        if descriptor in container.paused:
            container.paused.discard(descriptor)
        else:
            self._loop.unwatch(descriptor)
        container.writers.pop(descriptor).finish()
        container.attached.end(container.names.pop(descriptor))
        if descriptor != container.stdin:
            os.close(descriptor)

    def exec(self, spec: Mapping[str, Any], descriptors: list[int]) -> int:
        """Run another process in a container with the caller's descriptors as its streams; its pid."""
        container = self._running(spec["container"])
        environment = {**container.launch.environment, **spec.get("environment", {})}
        wanted = parse_launch(
            {
                **{name: getattr(container.launch, name) for name in launch.Launch.__dataclass_fields__},
                "argv": spec["argv"],
                "environment": environment,
                "tty": bool(spec.get("tty")),
                "join": container.pid if container.launch.isolation == "mounts" else 0,
            }
        )
        pid = launch.start(wanted, *descriptors[:3])
        self.execs[pid] = spec["exec"]
        return pid

    def attach(self, container_id: str, out: int, err: int) -> int:
        """Copy a container's output to the caller's descriptors from now on; its input's descriptor, -1 if it has none."""
        try:
            container = self._running(container_id)
        except LookupError:
            os.close(out)
            os.close(err)
            raise
        names, client = set(container.names.values()), {}
        for name, descriptor in (("stdout", out), ("stderr", err)):
            if name in names:
                client[name] = descriptor
            else:
                os.close(descriptor)
        container.attached.add(client)
        return container.stdin

    def close_stdin(self, container_id: str) -> None:
        container = self.by_id.get(container_id)
        if container and container.stdin >= 0 and not container.tty:
            os.close(container.stdin)
            container.stdin = -1

    def _running(self, container_id: str) -> Container:
        container = self.by_id.get(container_id)
        if container is None or "exitCode" in container.record:
            raise LookupError(f"container {container_id} is not running")
        return container

    def signal(self, container_id: str, number: int) -> None:
        """Send a signal to a container's process; SIGKILL to all that belongs to it."""
        container = self.by_id.get(container_id)
        if container is None or "exitCode" in container.record:
            return
        whole = number == signal.SIGKILL or container.launch.isolation == "bubblewrap"
        with contextlib.suppress(OSError):
            (os.killpg if whole else os.kill)(container.pid, number)

    def kill_exec(self, name: str) -> None:
        """End an exec's process and its group; nothing where it has ended."""
        for pid, known in self.execs.items():
            if known == name:
                with contextlib.suppress(OSError):
                    os.killpg(pid, signal.SIGKILL)

    def reap(self) -> None:
        """Collect every child that ended, ours and those that were re-parented to us."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self.execs:
                code = os.waitstatus_to_exitcode(status)
                self._tell({"event": "exec", "exec": self.execs.pop(pid), "code": code if code >= 0 else 128 - code})
                continue
            for container in self.by_id.values():
                if container.pid == pid and "exitCode" not in container.record:
                    self._ended(container, status)

    def _ended(self, container: Container, status: int) -> None:
        code = os.waitstatus_to_exitcode(status)
        self._sweep(container)
        for descriptor in list(container.writers):
            os.set_blocking(descriptor, False)
            while self._read(container, descriptor):
                pass
            if descriptor in container.writers:
                self._end_stream(container, descriptor)
        if container.stdin >= 0:
            os.close(container.stdin)
            container.stdin = -1
        container.log.close()
        if code != 0 and cgroups.oom_killed(container.launch.cgroups):
            container.record["oomKilled"] = True
        cgroups.remove(container.launch.cgroups, 0)
        container.record.update(exitCode=code if code >= 0 else 128 - code, signal=max(0, -code), finishedAt=time.time())
        with contextlib.suppress(OSError):  # a full disk: the agent that is there learns of the end all the same
            records.write(records.container_path(self.directory, container.id), container.record)
        self._tell({"event": "exited", "container": container.record})

    def _sweep(self, container: Container) -> None:
        """End what the container left behind: its group, its session, and what carries its marker."""
        with contextlib.suppress(OSError):
            os.killpg(container.pid, signal.SIGKILL)

        def left() -> list[int]:
            below = procfs.descendants(os.getpid())
            return [pid for pid in below if self._belongs(pid, container)]

        procfs.kill_until_none(left, 1.0)

    def _belongs(self, pid: int, container: Container) -> bool:
        found = procfs.stat(pid)
        if found is None:
            return False
        return found[2] == container.pid or procfs.marked(pid, procfs.MARKER, container.id)

    def remove(self, container_id: str) -> None:
        """Forget an ended container and its record. Its logs are the agent's to remove."""
        container = self.by_id.get(container_id)
        if container and "exitCode" in container.record:
            del self.by_id[container_id]
            with contextlib.suppress(OSError):
                os.unlink(records.container_path(self.directory, container_id))

    def kill_all(self) -> None:
        """End every process of the pod, wherever it fled to."""
        procfs.kill_until_none(lambda: procfs.descendants(os.getpid()))


class _Streams:
    """The pipes or the terminal of a new container: `inner` for it, `outer` (by stream name) and `stdin` for us."""

    def __init__(self, *, tty: bool, stdin: bool) -> None:
        self.stdin = -1
        if tty:
            master, slave = os.openpty()
            self.inner = (slave, slave, slave)
            self.outer = {"stdout": master}
            self.stdin = master
        else:
            out, out_inner = os.pipe()
            err, err_inner = os.pipe()
            self.outer = {"stdout": out, "stderr": err}
            if stdin:
                inner, self.stdin = os.pipe()
            else:
                inner = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
            self.inner = (inner, out_inner, err_inner)

    def close_inner(self) -> None:
        for descriptor in set(self.inner):
            os.close(descriptor)

    def close(self) -> None:
        self.close_inner()
        self.close_outer()

    def close_outer(self) -> None:
        for descriptor in {*self.outer.values(), self.stdin} - {-1}:
            os.close(descriptor)
