"""What is measured: a server that speaks the Kubernetes API at a URL, for a bearer token."""

from __future__ import annotations

import json
import ssl
import time
from http.client import HTTPException, HTTPSConnection
from typing import Any

import psutil

SEEDED = 500
NAMESPACE = "bench"
COLLECTION = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
FILLER = "0123456789abcdef" * 40
KEPT_SECONDS = 10.0  # a connection that lay idle for longer is made anew


class Target:
    """`processes` is empty for a server elsewhere: its processor time and memory cannot be read."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url.rstrip("/")
        self.token = token
        self._connection: HTTPSConnection | None = None
        self._last = 0.0

    def processes(self) -> list[psutil.Process]:
        return []

    def call(self, method: str, path: str, body: object = None, media: str = "application/json") -> tuple[int, Any]:
        """One request; status and parsed body."""
        data = None if body is None else json.dumps(body)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": media}
        address = self.url.removeprefix("https://")
        if time.monotonic() - self._last > KEPT_SECONDS:  # the server may have closed it
            self._connection = None
        self._last = time.monotonic()
        connection = self._connection = self._connection or HTTPSConnection(address, timeout=60, context=unverified())
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
        self.call("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        for number in range(SEEDED):
            status, _ = self.call("POST", COLLECTION, config_map(f"seed-{number}"))
            if status not in (201, 409):
                raise RuntimeError(f"seeding answered {status}")

    def processor_seconds(self) -> float:
        """What the server's processes have computed so far; 0 for a server elsewhere."""
        return sum(sum(each.cpu_times()[:2]) for each in self.processes())

    def resident_mib(self) -> float:
        return sum(each.memory_info().rss for each in self.processes()) / 2**20

    def processor_share(self, seconds: float) -> float:
        """Per cent of a core over the next `seconds`."""
        before = self.processor_seconds()
        time.sleep(seconds)
        return 100 * (self.processor_seconds() - before) / seconds


def config_map(name: str) -> dict[str, Any]:
    """About 800 bytes as stored."""
    metadata = {"name": name, "namespace": NAMESPACE, "labels": {"app": NAMESPACE}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": FILLER}}


def post(target: Target, path: str, body: object) -> bytes:
    """A create as it goes over the wire."""
    return message(target, "POST", path, body)


def message(target: Target, method: str, path: str, body: object = None, media: str = "application/json") -> bytes:
    data = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
    host = target.url.removeprefix("https://")
    head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {target.token}\r\n"
    return f"{head}Content-Type: {media}\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data


def unverified() -> ssl.SSLContext:
    """Loopback and throw-away certificates: nothing to verify."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode(errors="replace")
