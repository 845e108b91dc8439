"""Watch fan-out: 100 watchers on one collection; how many events reach them in a second, and how late the last of them is."""

from __future__ import annotations

import asyncio
import ssl
import time

import aiohttp
import uvloop

COLLECTION = "/api/v1/namespaces/bench/configmaps"


class Audience:
    """Counts what every watcher was told."""

    def __init__(self, watchers: int) -> None:
        self.heard = [0] * watchers
        self.watching = 0

    async def watch(self, session: aiohttp.ClientSession, url: str, number: int) -> None:
        async with session.get(url) as answer:
            self.watching += 1
            async for piece in answer.content.iter_any():
                self.heard[number] += piece.count(b'"ADDED"')


async def measure(url: str, token: str, watchers: int = 100, events: int = 300) -> dict[str, float]:
    """Create `events` objects one after another, 8 at a time, while `watchers` watch."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    headers = {"Authorization": f"Bearer {token}"}
    connector = aiohttp.TCPConnector(ssl=context, limit=0)
    async with aiohttp.ClientSession(headers=headers, connector=connector, timeout=aiohttp.ClientTimeout(60)) as session:
        async with session.get(f"{url}{COLLECTION}?limit=1") as answer:
            revision = (await answer.json(content_type=None))["metadata"]["resourceVersion"]
        audience = Audience(watchers)
        address = f"{url}{COLLECTION}?watch=true&resourceVersion={revision}"
        tasks = [asyncio.create_task(audience.watch(session, address, number)) for number in range(watchers)]
        try:
            await _reached(lambda: audience.watching == watchers)
            began = time.monotonic()
            numbers = iter(range(events))
            await asyncio.gather(*(_create(session, url, numbers) for _ in range(8)))
            created = time.monotonic()
            await _reached(lambda: min(audience.heard) >= events)
            ended = time.monotonic()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    seconds = ended - began
    return {
        "events_per_second": round(watchers * events / seconds),
        "seconds": round(seconds, 3),
        "last_after_ms": round(1000 * (ended - created), 1),
    }


async def _create(session: aiohttp.ClientSession, url: str, numbers: object) -> None:
    for number in numbers:  # type: ignore[attr-defined]  # an iterator shared by all creators
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"fan-out-{number}"}, "data": {"key": "x" * 600}}
        async with session.post(url + COLLECTION, json=body) as answer:
            await answer.read()


async def _reached(condition: object, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        if time.monotonic() > deadline:
            raise RuntimeError("the watchers are not told everything")
        await asyncio.sleep(0.002)


def run(url: str, token: str) -> dict[str, float]:
    return uvloop.run(measure(url, token))
