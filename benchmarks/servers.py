"""Starts and stops what is measured: Setpoint and the bare stack, each as a process of its own on loopback."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
import time
from dataclasses import dataclass
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, Self

import psutil

HERE = Path(__file__).parent
TOKEN = "bare"  # noqa: S105  a benchmark's
_NODE = "/api/v1/nodes"
_START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds from the process's creation: to `/readyz` answering ok, to its node Ready, and what the process says itself."""

    readyz: float
    node_ready: float
    said: float


class Server:
    """A process that serves the Kubernetes paths at `url` for the bearer token TOKEN."""

    def __init__(self, command: list[str]) -> None:
        self.began = time.monotonic()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = ""
        self._connection: HTTPSConnection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def call(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """One request; status and parsed body."""
        data = None if body is None else json.dumps(body)
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        address = self.url.removeprefix("https://")
        connection = self._connection = self._connection or HTTPSConnection(address, timeout=10, context=_unverified())
        try:
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            return answer.status, _parsed(answer.read())
        except (OSError, HTTPException):
            connection.close()
            self._connection = None
            raise

    def seed(self) -> None:
        """What GET, PATCH and LIST find: a namespace with 500 ConfigMaps of about 800 bytes."""
        self.call("POST", "/api/v1/namespaces", {"metadata": {"name": "bench"}})
        for number in range(500):
            name = f"seed-{number}"
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"app": "bench"}}}
            status, _ = self.call(
                "POST", "/api/v1/namespaces/bench/configmaps", {**body, "data": {"key": "0123456789abcdef" * 40}}
            )
            if status != 201:
                raise RuntimeError(f"seeding answered {status}")

    def lines(self) -> str:
        """The next line of its standard output; raises RuntimeError at its end."""
        if self.process.stdout is None or not (line := self.process.stdout.readline()):
            raise RuntimeError(f"the server ended with code {self.process.wait()}")
        return line.rstrip()

    def idle(self, seconds: float) -> dict[str, float]:
        """Resident memory in MiB and processor time in per cent of a core, of the process and its children, over `seconds`."""
        before = self.processor_seconds()
        time.sleep(seconds)
        spent = self.processor_seconds() - before
        resident = sum(each.memory_info().rss for each in self._family()) / 2**20
        return {"rss_mib": round(resident, 1), "cpu_percent": round(100 * spent / seconds, 2)}

    def processor_seconds(self) -> float:
        """What the process and its children have computed so far."""
        return sum(sum(each.cpu_times()[:2]) for each in self._family())

    def _family(self) -> list[psutil.Process]:
        me = psutil.Process(self.process.pid)
        return [me, *me.children(recursive=True)]


def bare(directory: Path) -> Server:
    """The bare stack, ready for requests."""
    server = Server([sys.executable, str(HERE / "bare_stack.py"), "--data-dir", str(directory)])
    while not (line := server.lines()).startswith("ready "):
        pass
    server.url = line.split()[1]
    return server


def setpoint(directory: Path) -> tuple[Server, Start]:
    """Setpoint with one node on SQLite, ready for requests, and how long it took."""
    tokens = directory.with_suffix(".tokens")
    tokens.write_text(f'{TOKEN},bench,bench,"system:masters"\n')
    options = ["--data-dir", str(directory), "--port", str(_free_port()), "--nodes", "1", "--token-auth-file", str(tokens)]
    time.sleep(1 - time.time() % 1)  # heartbeats are told in whole seconds: none of an earlier start is in this one
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    server = Server([sys.executable, "-m", "setpoint", "up", *options])
    server.url = f"https://127.0.0.1:{options[3]}"
    readyz = _until(server, lambda: server.call("GET", "/readyz")[0] == 200)
    node_ready = _until(server, lambda: _node_is_ready(server.call("GET", _NODE)[1], since))
    while not (line := server.lines()).startswith("ready in "):
        pass
    return server, Start(readyz, node_ready, float(line.split()[2]))


def _until(server: Server, check: Any) -> float:
    """Seconds from the process's start until `check()` holds; asked every 5 ms."""
    while time.monotonic() - server.began < _START_SECONDS:
        try:
            if check():
                return time.monotonic() - server.began
        except (OSError, HTTPException):
            if server.process.poll() is not None:
                raise RuntimeError(f"the server ended with code {server.process.returncode}") from None
        time.sleep(0.005)
    raise RuntimeError("the server does not get ready")


def _node_is_ready(nodes: Any, since: str) -> bool:
    """Whether a node says so, and has said so since the start: a second start finds what the first one left."""
    conditions = [each for node in nodes.get("items", ()) for each in node["status"].get("conditions", ())]
    ready = [each for each in conditions if each["type"] == "Ready" and each["status"] == "True"]
    return any(each["lastHeartbeatTime"] >= since for each in ready)


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _unverified() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode(errors="replace")
