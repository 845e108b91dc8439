"""HTTP by hand: exact bytes to a cluster's port, and what comes back, as no well-behaved client would send them."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from setpoint.testing.real import Cluster


@dataclass
class Answer:
    """Status line and body of one answer; `status` 0: the server closed without a word."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Wire:
    """Opens TLS connections as the administrator of a cluster."""

    host: str
    port: int
    context: ssl.SSLContext

    @contextlib.contextmanager
    def open(self, seconds: float = 20) -> Iterator[ssl.SSLSocket]:
        with (
            socket.create_connection((self.host, self.port), seconds) as plain,
            self.context.wrap_socket(plain, server_hostname=self.host) as secure,
        ):
            yield secure

    def say(self, data: bytes, *, seconds: float = 20) -> Answer:
        """Send bytes, read one answer."""
        with self.open(seconds) as secure:
            with contextlib.suppress(OSError):  # the server may have said all it has to say before it read everything
                secure.sendall(data)
            return read_answer(secure)

    def request(self, line: str, body: bytes = b"", media: str = "application/json", **headers: str) -> Answer:
        lines = [f"{line} HTTP/1.1", "Host: x", "Connection: close", f"Content-Length: {len(body)}"]
        lines += [f"Content-Type: {media}"] if body else []
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        return self.say("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def read_answer(secure: ssl.SSLSocket) -> Answer:
    data = b""
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        while b"\r\n\r\n" not in data and (piece := secure.recv(65536)):
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        headers = _headers(head)
        length = int(headers.get("content-length", "-1"))
        while (length < 0 or len(body) < length) and (piece := secure.recv(65536)):
            body += piece
        return Answer(int(head.split(b" ", 2)[1]) if head else 0, headers, body)
    return Answer(0, {}, data)


def _headers(head: bytes) -> dict[str, str]:
    pairs = (line.decode("latin-1").partition(":") for line in head.split(b"\r\n")[1:])
    return {name.lower(): value.strip() for name, _, value in pairs}


def wire_of(cluster: Cluster, directory: Path) -> Wire:
    """A wire with the administrator's certificate, taken from the kubeconfig."""
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    address = urlsplit(config["clusters"][0]["cluster"]["server"])
    cluster_entry, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    context = ssl.create_default_context(cadata=_pem(cluster_entry, "certificate-authority"))
    context.check_hostname = False
    certificate, key = directory / "wire.crt", directory / "wire.key"
    certificate.write_text(_pem(user, "client-certificate"))
    key.write_text(_pem(user, "client-key"))
    context.load_cert_chain(certificate, key)
    return Wire(address.hostname or "", address.port or 0, context)


def _pem(entry: dict[str, str], name: str) -> str:
    import base64

    if f"{name}-data" in entry:
        return base64.b64decode(entry[f"{name}-data"]).decode()
    return Path(entry[name]).read_text()
