"""A server as a process of its own, and clients that are cheap enough to have ten thousand of."""

from __future__ import annotations

import asyncio
import os
import ssl
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import psutil
import yaml

from setpoint.testing.real import Cluster

FULL = os.environ.get("SETPOINT_BOUNDS") == "full"
TOKENS = 'ann-token,ann,1,"testers"\nbob-token,bob,2,"testers"\nroot-token,root,3,"system:masters"\n'
MIB = 1024 * 1024
_HEALTHY = Path(__file__).with_name("healthy_client.py")


class Connection:
    """One connection that is kept; requests go over it one after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str) -> None:
        self.reader = reader
        self.writer = writer
        self._token = token

    async def send(self, method: str, path: str, body: Any = None, *, kind: str = "application/json") -> None:
        content = b"" if body is None else orjson.dumps(body)
        head = f"{method} {path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {self._token}\r\nContent-Type: {kind}\r\n"
        self.writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        await self.writer.drain()

    async def head(self) -> tuple[int, dict[str, str]]:
        text = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = text.strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return int(first.split()[1]), headers

    async def call(self, method: str, path: str, body: Any = None, **more: Any) -> tuple[int, dict[str, str], bytes]:
        await self.send(method, path, body, **more)
        status, headers = await self.head()
        if "transfer-encoding" in headers:
            return status, headers, b"".join([piece async for piece in self.chunks()])
        if "content-length" in headers:
            return status, headers, await self.reader.readexactly(int(headers["content-length"]))
        return status, headers, b""

    async def chunks(self) -> AsyncIterator[bytes]:
        """All pieces of an answer that ends."""
        while piece := await self.chunk():
            yield piece

    async def chunk(self) -> bytes:
        """One piece of a stream."""
        size = int(await self.reader.readline(), 16)
        return (await self.reader.readexactly(size + 2))[:-2]

    def close(self) -> None:
        self.writer.transport.abort()


class Server:
    """A running server and its figures."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        config = yaml.safe_load((cluster.data_dir / "admin.kubeconfig").read_text())
        self.port = int(config["clusters"][0]["cluster"]["server"].rpartition(":")[2])
        self._context = ssl.create_default_context()
        self._context.check_hostname = False
        self._context.verify_mode = ssl.CERT_NONE
        assert cluster.process is not None
        self._process = psutil.Process(cluster.process.pid)

    async def connect(self, user: str = "root") -> Connection:
        # a small buffer, so that a client which does not read makes itself felt
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, ssl=self._context, limit=64 * 1024)
        return Connection(reader, writer, f"{user}-token")

    async def raw(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection without TLS: what somebody has who says nothing."""
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def watch(self, path: str, user: str = "root") -> Connection:
        """A watch that has begun."""
        connection = await self.connect(user)
        await connection.send("GET", f"{path}?watch=1&allowWatchBookmarks=false&timeoutSeconds=3000")
        status, _ = await connection.head()
        assert status == 200
        return connection

    @property
    def memory(self) -> int:
        return int(self._process.memory_info().rss)

    @property
    def descriptors(self) -> int:
        return int(self._process.num_fds())

    async def metric(self, name: str) -> float:
        connection = await self.connect()
        _, _, text = await connection.call("GET", "/metrics")
        connection.close()
        return next(float(line.split()[-1]) for line in text.decode().splitlines() if line.startswith(f"{name} "))


async def open_server(directory: Path, *arguments: str) -> tuple[Cluster, Server]:
    """Start one; users ann and bob may do everything, like anybody, root is exempt from limits."""
    tokens = directory / "tokens.csv"
    tokens.write_text(TOKENS)
    options = ["--port", "0", "--nodes", "0", "--token-auth-file", str(tokens), *arguments]
    cluster = Cluster(directory / "data", options)
    await asyncio.to_thread(cluster.start)
    server = Server(cluster)
    root = await server.connect()
    binding = {
        "metadata": {"name": "testers"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "testers"}],
    }
    await asyncio.sleep(0.5)  # the default roles are made beside the start
    for path, body in (
        ("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding),
        ("/api/v1/namespaces", {"metadata": {"name": "full"}}),
    ):
        status, _, answer = await root.call("POST", path, body)
        assert status == 201, answer
    root.close()
    return cluster, server


@asynccontextmanager
async def healthy(server: Server, user: str = "bob", period: float = 0.01) -> AsyncIterator[list[float]]:
    """A client that reads one object again and again; how long each time took, in seconds, once it is over."""
    command = [sys.executable, str(_HEALTHY), str(server.port), f"{user}-token", str(period)]
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=MIB
    )
    times: list[float] = []
    try:
        assert process.stdout is not None
        await process.stdout.readline()
        yield times
        await asyncio.sleep(0.2)
    finally:
        found, _ = await process.communicate(b"")
    assert process.returncode == 0, found
    times += orjson.loads(found)


def percentile(times: list[float], part: float) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


async def at_once(number: int, work: Callable[[int], Awaitable[Any]], width: int = 64) -> list[Any]:
    """`work(0)` … `work(number - 1)`, so many at a time."""
    places = asyncio.Semaphore(width)

    async def one(index: int) -> Any:
        async with places:
            return await work(index)

    return [*await asyncio.gather(*map(one, range(number)))]


def report(what: str, **figures: object) -> None:
    """Say what was measured: shown with `-s`, and when the full forms run."""
    print(f"\n{what}: " + ", ".join(f"{name} {value}" for name, value in figures.items()))  # noqa: T201  that is what it is for
