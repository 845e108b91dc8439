"""Resident memory: idle with a node, with 25,000 ConfigMaps of 800 bytes, with 50,000 pods that nobody schedules."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

import uvloop
from benchmarks.driver import Connection
from benchmarks.report import Figure
from benchmarks.scenarios import Bench
from benchmarks.target import COLLECTION, NAMESPACE, Target, config_map, post

SETTLE = 6.0
"""Seconds after which a start is over, the imports in its wake included."""
CONNECTIONS = 16
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"


def run(bench: Bench) -> Iterator[Figure]:
    server, _ = bench.start("idle", nodes=1)
    with server:
        time.sleep(SETTLE)
        yield Figure("memory", "memory, idle with a node", "MiB", [server.resident_mib()], goal=120, less_is_better=True)
        share = [server.processor_share(bench.size(20, 5)) for _ in range(bench.repeats)]
        yield Figure("memory", "processor, idle with a node", "% of a core", share, goal=1, less_is_better=True)
    configs, pods = bench.size(25_000, 1000), bench.size(50_000, 1000)
    yield _filled(bench, "ConfigMaps", COLLECTION, config_map, configs)
    yield _filled(bench, "pods", PODS, _pod, pods)


def _filled(bench: Bench, what: str, path: str, body: Callable[[str], object], count: int) -> Figure:
    server, _ = bench.start(f"memory-{what}")
    with server:
        server.call("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        while server.call("GET", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default")[0] != 200:
            time.sleep(0.05)  # pods are refused until their account is there
        began = time.monotonic()
        uvloop.run(fill(server, path, body, count))
        seconds = time.monotonic() - began
        time.sleep(SETTLE)
        more = {"created/s": count / seconds}
        return Figure("memory", f"memory, {count:,} {what}", "MiB", [server.resident_mib()], more=more)


async def fill(target: Target, path: str, body: Callable[[str], object], count: int) -> None:
    """Create `count` objects over some connections."""
    numbers = iter(range(count))

    async def work() -> None:
        connection = await Connection.open(target.url)
        for number in numbers:
            status = await connection.ask(post(target, path, body(f"item-{number}")))
            if status != 201:
                raise RuntimeError(f"create answered {status}")
        connection.close()

    await asyncio.gather(*(work() for _ in range(CONNECTIONS)))


def _pod(name: str) -> dict[str, Any]:
    """One that waits for a scheduler of its own, which does not exist."""
    container = {"name": "main", "image": "registry.k8s.io/pause:3.10"}
    spec = {"containers": [container], "schedulerName": "nobody"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": NAMESPACE}}, "spec": spec}
