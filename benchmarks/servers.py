"""Starts and stops what is measured here: Setpoint and the bare stack, each as a process of its own on loopback."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any, Self

import psutil
from benchmarks.target import Target

HERE = Path(__file__).parent
TOKEN = "bare"  # noqa: S105  a benchmark's
WORKER = "worker"  # the token of a user who may do nothing until a scenario says so
_NODE = "/api/v1/nodes"
_START_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds from the process's creation: to `/readyz` answering ok, to all nodes Ready, and what the process says itself."""

    readyz: float
    node_ready: float
    said: float


class Server(Target):
    """A process of ours that serves the API for the bearer token TOKEN."""

    def __init__(self, command: list[str]) -> None:
        super().__init__("", TOKEN)
        self.began = time.monotonic()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def processes(self) -> list[psutil.Process]:
        me = psutil.Process(self.process.pid)
        return [me, *me.children(recursive=True)]

    def lines(self) -> str:
        """The next line of its standard output; raises RuntimeError at its end."""
        if self.process.stdout is None or not (line := self.process.stdout.readline()):
            raise RuntimeError(f"the server ended with code {self.process.wait()}")
        return line.rstrip()


def bare(directory: Path) -> Server:
    """The bare stack, ready for requests."""
    directory.mkdir(exist_ok=True)
    server = Server([sys.executable, str(HERE / "bare_stack.py"), "--data-dir", str(directory)])
    while not (line := server.lines()).startswith("ready "):
        pass
    server.url = line.split()[1]
    return server


def setpoint(directory: Path, *, nodes: int = 1, options: tuple[str, ...] = ()) -> tuple[Server, Start]:
    """Setpoint with some nodes on SQLite, ready for requests, and how long it took."""
    tokens = directory.with_suffix(".tokens")
    tokens.write_text(f'{TOKEN},bench,bench,"system:masters"\n{WORKER},worker,worker\n')
    port = str(_free_port())
    given = ["--data-dir", str(directory), "--port", port, "--nodes", str(nodes), "--token-auth-file", str(tokens), *options]
    time.sleep(1 - time.time() % 1)  # heartbeats are told in whole seconds: none of an earlier start is in this one
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    server = Server([sys.executable, "-m", "setpoint", "up", *given])
    server.url = f"https://127.0.0.1:{port}"
    readyz = _until(server, lambda: server.call("GET", "/readyz")[0] == 200, 0.005)
    pause = 0.005 if nodes == 1 else 0.5
    node_ready = _until(server, lambda: _ready_nodes(server.call("GET", _NODE)[1], since) >= nodes, pause)
    while not (line := server.lines()).startswith("ready in "):
        pass
    return server, Start(readyz, node_ready, float(line.split()[2]))


def _until(server: Server, check: Callable[[], bool], pause: float) -> float:
    """Seconds from the process's start until `check()` holds."""
    while time.monotonic() - server.began < _START_SECONDS:
        try:
            if check():
                return time.monotonic() - server.began
        except (OSError, HTTPException):
            if server.process.poll() is not None:
                raise RuntimeError(f"the server ended with code {server.process.returncode}") from None
        time.sleep(pause)
    raise RuntimeError("the server does not get ready")


def _ready_nodes(nodes: Any, since: str) -> int:
    """How many nodes say so, and have said so since the start: a second start finds what the first one left."""
    return sum(_is_ready(node, since) for node in nodes.get("items", ()))


def _is_ready(node: Any, since: str) -> bool:
    conditions = node["status"].get("conditions", ())
    return any(each["type"] == "Ready" and each["status"] == "True" and each["lastHeartbeatTime"] >= since for each in conditions)


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
