"""A re-list storm: 500 informers start at once, list 2,000 objects each and begin to watch; until the last one watches."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Iterator

import aiohttp
import uvloop
from benchmarks.report import Figure
from benchmarks.scenarios import Bench
from benchmarks.scenarios.fan_out import session_for
from benchmarks.target import Target, config_map

INFORMERS = 500
OBJECTS = 2_000  # in a namespace of their own: what other scenarios left behind does not count
STORM = "storm"
COLLECTION = f"/api/v1/namespaces/{STORM}/configmaps"


def run(bench: Bench) -> Iterator[Figure]:
    count = bench.size(INFORMERS, 50)
    for target in (bench.subject, bench.bare):
        if target is not None:
            _fill(target, bench.size(OBJECTS, 200))
    ours = [uvloop.run(_storm(bench.subject, count)) for _ in range(bench.repeats)]
    bare = [uvloop.run(_storm(bench.bare, count))["last"] for _ in range(bench.repeats)] if bench.bare is not None else []
    more = {"median of all s": statistics.median(each["median"] for each in ours), "MiB read": ours[0]["mib"]}
    name = f"{count} informers at once, until the last one watches"
    yield Figure("relist", name, "s", [each["last"] for each in ours], bare, less_is_better=True, more=more)


def _fill(target: Target, objects: int) -> None:
    target.call("POST", "/api/v1/namespaces", {"metadata": {"name": STORM}})
    for number in range(objects):
        body = config_map(f"storm-{number}")
        target.call("POST", COLLECTION, {**body, "metadata": {**body["metadata"], "namespace": STORM}})


async def _storm(target: Target, count: int) -> dict[str, float]:
    async with session_for(target) as session:
        began = time.monotonic()
        found = await asyncio.gather(*(_informer(session, target) for _ in range(count)))
    times = sorted(moment - began for moment, _ in found)
    return {"last": times[-1], "median": times[len(times) // 2], "mib": sum(size for _, size in found) / 2**20}


async def _informer(session: aiohttp.ClientSession, target: Target) -> tuple[float, int]:
    """When its watch was answered, and how much its list was."""
    while True:
        async with session.get(f"{target.url}{COLLECTION}?resourceVersion=0") as answer:
            body = await answer.read()
        if answer.status != 429:
            break
        await asyncio.sleep(float(answer.headers.get("Retry-After", 1)))
    _, _, rest = body[:300].partition(b'"resourceVersion":"')
    revision = rest.partition(b'"')[0].decode()
    async with session.get(f"{target.url}{COLLECTION}?watch=true&resourceVersion={revision}") as answer:
        return time.monotonic(), len(body)
