"""A real etcd for tests: one member or several, as processes of their own, in a directory of their own."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from setpoint.storage.backends.etcd.members import Members

START_SECONDS = 20.0
ATTEMPTS = 3
ETCD = shutil.which("etcd") or ""


def free_ports(count: int) -> list[int]:
    """So many ports that nobody listens at, no two the same: all are held until the last one is found."""
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


class Ended(AssertionError):
    """A member's process ended while it was waited for."""


@dataclass
class Etcd:
    """The members by name; each can be killed, stopped for a while, and started again with its data."""

    directory: Path
    size: int = 1
    arguments: Sequence[str] = ()
    scheme: str = "http"
    client_ports: list[int] = field(default_factory=list)
    peer_ports: list[int] = field(default_factory=list)
    processes: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._choose_ports()

    def _choose_ports(self) -> None:
        ports = free_ports(2 * self.size)
        self.client_ports, self.peer_ports = ports[: self.size], ports[self.size :]

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(f"127.0.0.1:{port}" for port in self.client_ports)

    @property
    def store(self) -> str:
        """What `--store` takes."""
        return f"etcd://{','.join(self.addresses)}"

    def members(self, root: str) -> Members:
        return Members(self.addresses, root=root)

    def start(self) -> None:
        """Start all members. A port that somebody took since it was chosen ends one at once: then all begin anew on others."""
        for _ in range(ATTEMPTS - 1):
            with contextlib.suppress(Ended):
                return self._start_all()
            self.stop()
            shutil.rmtree(self.directory)  # the members' data name the ports
            self._choose_ports()
        return self._start_all()

    def _start_all(self) -> None:
        for index in range(self.size):
            self.begin(index)
        self.wait()

    def begin(self, index: int) -> None:
        """Start one member."""
        client = f"{self.scheme}://127.0.0.1:{self.client_ports[index]}"
        peer = f"http://127.0.0.1:{self.peer_ports[index]}"
        cluster = ",".join(f"m{n}=http://127.0.0.1:{port}" for n, port in enumerate(self.peer_ports))
        command = [ETCD, "--name", f"m{index}", "--data-dir", str(self.directory / f"m{index}")]
        command += ["--listen-client-urls", client, "--advertise-client-urls", client]
        command += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]
        command += ["--initial-cluster", cluster, "--initial-cluster-state", "new", "--log-level", "error", *self.arguments]
        self.directory.mkdir(parents=True, exist_ok=True)
        with (self.directory / f"m{index}.log").open("ab") as log:
            self.processes[index] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def wait(self) -> None:
        """Return when a leader answers at every living member. Raises Ended where one is none any more."""
        deadline = time.monotonic() + START_SECONDS
        for index, process in list(self.processes.items()):
            while not self._healthy(index):
                if process.poll() is not None:
                    raise Ended(self._says(index))
                if time.monotonic() > deadline:
                    raise AssertionError(self._says(index))
                time.sleep(0.05)

    def _says(self, index: int) -> str:
        log = (self.directory / f"m{index}.log").read_text()
        return f"etcd does not start:\n{log}"

    def _healthy(self, index: int) -> bool:
        if self.scheme == "https":
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.client_ports[index]), 1):
                return True
            return False
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://{self.addresses[index]}/health", timeout=2) as answer:
            return b'"true"' in answer.read()
        return False

    def kill(self, index: int) -> None:
        process = self.processes.pop(index)
        process.kill()
        process.wait()

    def pause(self, index: int) -> None:
        """The member hangs, as a machine does that swaps or is cut off."""
        os.kill(self.processes[index].pid, signal.SIGSTOP)

    def resume(self, index: int) -> None:
        os.kill(self.processes[index].pid, signal.SIGCONT)

    def leader(self) -> int:
        """Which member leads, by its metrics."""
        for index in self.processes:
            url = f"http://{self.addresses[index]}/metrics"
            with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=2) as answer:
                if b"etcd_server_is_leader 1" in answer.read():
                    return index
        raise AssertionError("no member of etcd leads")

    def stop(self) -> None:
        for index, process in self.processes.items():
            with contextlib.suppress(ProcessLookupError):
                self.resume(index)
            process.kill()
        for process in self.processes.values():
            process.wait()
        self.processes.clear()


@contextmanager
def running(directory: Path, size: int = 1, arguments: Sequence[str] = (), scheme: str = "http") -> Iterator[Etcd]:
    """An etcd for the length of a block."""
    etcd = Etcd(directory, size, arguments, scheme)
    try:
        etcd.start()
        yield etcd
    finally:
        etcd.stop()
