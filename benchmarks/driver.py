"""Our own load generator: a given number of requests a second over some connections, whatever the server makes of them.

wrk asks for the next answer when it has the last one, so a slow server is asked less; here requests are due at their times, and a
request's latency counts from when it was due (what a waiting client would feel).
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Iterator
from typing import cast
from urllib.parse import urlsplit

import uvloop
from benchmarks.target import COLLECTION, Target, config_map, message, unverified

Request = bytes


class Connection(asyncio.Protocol):
    """One keep-alive connection; one request at a time."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._waiter: asyncio.Future[int] | None = None
        self._transport: asyncio.WriteTransport | None = None

    @classmethod
    async def open(cls, url: str) -> Connection:
        parts = urlsplit(url)
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(cls, parts.hostname or "", parts.port or 443, ssl=unverified())
        return connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)

    async def ask(self, request: Request) -> int:
        """Send a request and wait for the whole answer; its status."""
        if self._transport is None:
            raise ConnectionError("not connected")
        self._waiter = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._waiter

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._waiter is not None and self._is_whole():
            status = int(self._buffer[9:12])
            self._buffer.clear()
            if not self._waiter.done():
                self._waiter.set_result(status)

    def _is_whole(self) -> bool:
        head, found, _ = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return False
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                return len(self._buffer) >= len(head) + 4 + int(line[15:])
        return self._buffer.endswith(b"0\r\n\r\n")

    def connection_lost(self, exc: Exception | None) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(exc or ConnectionResetError("closed by the server"))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


def requests(target: Target, mode: str) -> Iterator[Request]:
    """Endless requests of a mode: get, create, patch, apply."""
    run = time.monotonic_ns()
    for number in itertools.count():
        tag, seed = f"{run}-{number}", f"seed-{number % 100}"
        if mode == "get":
            yield message(target, "GET", f"{COLLECTION}/{seed}")
        elif mode == "create":
            yield message(target, "POST", COLLECTION, config_map(f"n-{tag}"))
        elif mode == "patch":
            yield message(target, "PATCH", f"{COLLECTION}/{seed}", {"data": {"turn": tag}}, "application/merge-patch+json")
        else:
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": seed}, "data": {"applied": tag}}
            path = f"{COLLECTION}/{seed}?fieldManager=bench&force=true"
            yield message(target, "PATCH", path, body, "application/apply-patch+yaml")


async def _offer(target: Target, mode: str, rate: float, connections: int, seconds: float) -> list[float]:
    loop = asyncio.get_running_loop()
    made = [await Connection.open(target.url) for _ in range(connections)]
    pending = requests(target, mode)
    began = loop.time()
    due = iter([began + number / rate for number in range(int(rate * seconds))])
    latencies: list[float] = []

    async def drive(connection: Connection) -> None:
        for moment in due:
            await asyncio.sleep(max(0.0, moment - loop.time()))
            status = await connection.ask(next(pending))
            if status >= 300:
                raise RuntimeError(f"{mode} answered {status}")
            latencies.append(loop.time() - moment)

    try:
        await asyncio.gather(*(drive(each) for each in made))
    finally:
        for each in made:
            each.close()
    return latencies


def offer(target: Target, mode: str, rate: float, connections: int = 32, seconds: float = 3) -> list[float]:
    """Offer `rate` requests a second for some seconds; every request's latency in milliseconds, sorted."""
    return sorted(1000 * each for each in uvloop.run(_offer(target, mode, rate, connections, seconds)))
