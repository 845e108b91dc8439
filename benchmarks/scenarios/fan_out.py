"""Watch fan-out: how many events a second reach 10, 100 and 1,000 watchers of a collection while objects are created."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import aiohttp
import uvloop
from benchmarks.report import Figure
from benchmarks.scenarios import Bench
from benchmarks.target import COLLECTION, Target, config_map, unverified

#: watchers → creates
SIZES = {10: 1000, 100: 1000, 1000: 100}
GOALS = {100: 110_000}
CREATORS = 8


def run(bench: Bench) -> Iterator[Figure]:
    for watchers, events in SIZES.items():
        count = max(events // 10, 30) if bench.quick else events
        ours: list[dict[str, float]] = []
        bare: list[float] = []
        for _ in range(bench.repeats):
            ours.append(measure(bench.subject, watchers, count))
            if bench.bare is not None:
                bare.append(measure(bench.bare, watchers, count)["events_per_second"])
        more = {"last after ms": ours[0]["last_after_ms"]}
        rates = [each["events_per_second"] for each in ours]
        name = f"fan-out of {count:,} creates to {watchers:,} watchers"
        yield Figure("fan_out", name, "events/s", rates, bare, goal=GOALS.get(watchers), more=more)


def measure(target: Target, watchers: int, events: int) -> dict[str, float]:
    return uvloop.run(_measure(target, watchers, events))


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


@asynccontextmanager
async def session_for(target: Target) -> AsyncIterator[aiohttp.ClientSession]:
    headers = {"Authorization": f"Bearer {target.token}"}
    connector = aiohttp.TCPConnector(ssl=unverified(), limit=0)
    timeout = aiohttp.ClientTimeout(300)
    async with aiohttp.ClientSession(headers=headers, connector=connector, timeout=timeout) as session:
        yield session


async def _measure(target: Target, watchers: int, events: int) -> dict[str, float]:
    async with session_for(target) as session:
        async with session.get(f"{target.url}{COLLECTION}?limit=1") as answer:
            revision = (await answer.json(content_type=None))["metadata"]["resourceVersion"]
        audience = Audience(watchers)
        address = f"{target.url}{COLLECTION}?watch=true&resourceVersion={revision}"
        tasks = [asyncio.create_task(audience.watch(session, address, number)) for number in range(watchers)]
        try:
            await _reached(lambda: audience.watching == watchers)
            began = time.monotonic()
            numbers = iter(range(events))
            await asyncio.gather(*(_create(session, target, numbers) for _ in range(CREATORS)))
            created = time.monotonic()
            await _reached(lambda: min(audience.heard) >= events)
            ended = time.monotonic()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    return {"events_per_second": watchers * events / (ended - began), "last_after_ms": 1000 * (ended - created)}


_tags = itertools.count(time.monotonic_ns())


async def _create(session: aiohttp.ClientSession, target: Target, numbers: Iterator[int]) -> None:
    for _ in numbers:
        async with session.post(target.url + COLLECTION, json=config_map(f"fan-out-{next(_tags)}")) as answer:
            if answer.status != 201:
                raise RuntimeError(f"create answered {answer.status}: {await answer.text()}")
            await answer.read()


async def _reached(condition: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError("the watchers are not told everything")
        await asyncio.sleep(0.002)
