"""Churn for long: memory, file descriptors and tasks stay as they are. SETPOINT_SOAK is for how many seconds."""

from __future__ import annotations

import asyncio
import os
import time

from tests.bounds.rig import MIB, Connection, Server, report

SECONDS = float(os.environ.get("SETPOINT_SOAK", "2"))
SETTLE = SECONDS * 0.3  # caches fill and history grows to its bound meanwhile
WORKERS = 8
CONFIGMAPS = "/api/v1/namespaces/full/configmaps"


async def churn(server: Server, worker: int, until: float) -> int:
    """Objects come, change and go; watches begin and break off; connections come and go."""
    rounds = 0
    while time.monotonic() < until:
        root = await server.connect()
        watch = await server.watch(CONFIGMAPS)
        for number in range(10):
            await one(root, f"{CONFIGMAPS}/s-{worker}-{number}")
        watch.close()
        root.close()
        rounds += 1
    return rounds


async def one(root: Connection, path: str) -> None:
    collection, _, name = path.rpartition("/")
    body = {"metadata": {"name": name}, "data": {"x": "y" * 2000}}
    assert (await root.call("POST", collection, body))[0] == 201
    patch = {"data": {"x": "z" * 1000}, "metadata": {"labels": {"a": "b"}}}
    assert (await root.call("PATCH", path, patch, kind="application/merge-patch+json"))[0] == 200
    assert (await root.call("GET", f"{collection}?limit=5"))[0] == 200
    assert (await root.call("DELETE", path))[0] == 200
    assert (await root.call("GET", path))[0] == 404


async def test_memory_descriptors_and_tasks_stay_flat(server: Server) -> None:
    until = time.monotonic() + SECONDS
    workers = [asyncio.ensure_future(churn(server, number, until)) for number in range(WORKERS)]
    samples: list[tuple[float, float, float]] = []
    await asyncio.sleep(SETTLE)
    while time.monotonic() < until:
        samples.append((server.memory / MIB, server.descriptors, await server.metric("setpoint_tasks")))
        await asyncio.sleep(max(0.1, SECONDS / 60))
    rounds = sum(await asyncio.gather(*workers))
    await asyncio.sleep(0.3)
    third = max(1, len(samples) // 3)
    first, last = ([max(sample[part] for sample in some) for part in range(3)] for some in (samples[:third], samples[-third:]))
    words = ("memory_mib", "descriptors", "tasks")
    figures = {name: f"{before:.0f} to {after:.0f}" for name, before, after in zip(words, first, last, strict=True)}
    report("soak", seconds=SECONDS, rounds=rounds, **figures)
    assert last[0] <= first[0] * 1.1 + 32  # MiB
    assert last[1] <= first[1] + 3 * WORKERS
    assert last[2] <= first[2] + 3 * WORKERS
    assert await server.metric("setpoint_tasks") < 60
