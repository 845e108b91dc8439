"""What a request costs in the pipeline alone: no socket, no TLS, the store in memory. Microseconds of processor time.

    python benchmarks/pipeline.py [--profile create|patch|apply|get|list]

What this leaves of a whole request's cost (`run.py`) is TLS, HTTP, the event loop, the disk, and the components' watches.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import pstats
import time
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs

import orjson
import uvloop

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.request import Request
from setpoint.app.assembly import make_pipeline
from setpoint.kit import garbage
from setpoint.kit.clock import RealClock
from setpoint.storage.backends.memory import memory_store

COLLECTION = "/api/v1/namespaces/bench/configmaps"
USER = UserInfo("bench", groups=("system:masters", "system:authenticated"))
ROUNDS = 5


class Load:
    """Requests of each kind, numbered so that no two are the same."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._number = 0

    async def call(
        self, method: str, path: str, body: object = None, *, media: str = "application/json", limit: str = ""
    ) -> None:
        data = orjson.dumps(body) if body is not None else b""
        path, _, asked = path.partition("?")
        query = parse_qs(asked) | ({"limit": [limit]} if limit else {})
        response = await self._pipeline.handle(Request(method, path, query, {"content-type": media}, data, USER))
        if response.status >= 400:
            raise RuntimeError(f"{method} {path}: {response.status} {response.body!r}")

    async def create(self) -> None:
        self._number += 1
        metadata = {"name": f"n-{self._number}", "namespace": "bench", "labels": {"app": "bench"}}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": "0123456789abcdef" * 40}}
        await self.call("POST", COLLECTION, body)

    async def patch(self) -> None:
        self._number += 1
        body = {"data": {"turn": f"{self._number}"}}
        await self.call("PATCH", f"{COLLECTION}/n-{self._number % 100 + 1}", body, media="application/merge-patch+json")

    async def apply(self) -> None:
        self._number += 1
        name = f"n-{self._number % 100 + 1}"
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"applied": f"{self._number}"}}
        path = f"{COLLECTION}/{name}?fieldManager=bench&force=true"
        await self.call("PATCH", path, body, media="application/apply-patch+yaml")

    async def get(self) -> None:
        await self.call("GET", f"{COLLECTION}/n-1")

    async def list(self) -> None:
        await self.call("GET", COLLECTION, limit="500")


async def cost(work: Callable[[], Awaitable[None]], times: int) -> float:
    """Microseconds of one call, the best of several rounds."""
    found = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(times):
            await work()
        found.append((time.process_time() - began) / times)
    return 1e6 * min(found)


async def measure(profiled: str) -> None:
    clock = RealClock()
    store = memory_store(clock)
    await store.open()
    load = Load(make_pipeline(store, clock, address=lambda: "127.0.0.1:1"))
    await load.call("POST", "/api/v1/namespaces", {"metadata": {"name": "bench"}})
    garbage.settle()
    for name, work, times in (
        ("create", load.create, 400),
        ("patch", load.patch, 400),
        ("apply", load.apply, 400),
        ("get", load.get, 1000),
        ("list", load.list, 20),
    ):
        print(f"{name:<8}{await cost(work, times):>8.0f} µs")
        if name == profiled:
            with cProfile.Profile() as profile:
                await cost(work, times)
            pstats.Stats(profile).sort_stats("tottime").print_stats(40)
    await store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="What a request costs in the pipeline alone.")
    parser.add_argument("--profile", default="", choices=("create", "patch", "apply", "get", "list"))
    options = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(measure(options.profile))


if __name__ == "__main__":
    main()
