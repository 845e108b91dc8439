"""What a request costs in the pipeline alone: no socket, no TLS, the store in memory. Microseconds of processor time.

    python benchmarks/pipeline.py [--profile create|patch|apply|get|list|pod|bind|status]

What this leaves of a whole request's cost (`run.py`) is TLS, HTTP, the event loop, the disk, and the components' watches.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import pstats
import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

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
PODS = "/api/v1/namespaces/bench/pods"
USER = UserInfo("bench", groups=("system:masters", "system:authenticated"))
ROUNDS = 5


class Load:
    """Requests of each kind, numbered so that no two are the same."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._number = 0
        self._unbound: list[str] = []
        self._bound: list[str] = []

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

    async def pod(self) -> None:
        """A pod as a ReplicaSet makes it; its service account must be there."""
        self._number += 1
        await self.call("POST", PODS, pod(f"p-{self._number}"))
        self._unbound.append(f"p-{self._number}")

    async def bind(self) -> None:
        name = self._unbound.pop()
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": {"kind": "Node", "name": "n"}}
        await self.call("POST", f"{PODS}/{name}/binding", body)
        self._bound.append(name)

    async def status(self) -> None:
        await self.call("PATCH", f"{PODS}/{self._bound.pop()}/status", running(), media="application/strategic-merge-patch+json")


def pod(name: str) -> dict[str, Any]:
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": str(UUID(int=1)), "controller": True}
    labels = {"app": "bench", "pod-template-hash": "5d5c7f9b4"}
    metadata = {"name": name, "labels": labels, "ownerReferences": [{**reference, "blockOwnerDeletion": True}]}
    resources = {"requests": {"cpu": "10m", "memory": "10Mi"}}
    container = {"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": resources}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}


def running() -> dict[str, Any]:
    """What a node says of a pod that has started."""
    now = "2030-01-01T00:00:00Z"
    names = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    conditions = [{"type": name, "status": "True", "lastProbeTime": None, "lastTransitionTime": now} for name in names]
    container = {
        "name": "main",
        "image": "registry.k8s.io/pause:3.10",
        "imageID": "simulated://pause",
        "containerID": "simulated://1",
        "ready": True,
        "started": True,
        "restartCount": 0,
        "state": {"running": {"startedAt": now}},
        "lastState": {},
    }
    status = {"phase": "Running", "conditions": conditions, "containerStatuses": [container], "startTime": now}
    addresses = {"hostIP": "127.0.0.1", "hostIPs": [{"ip": "127.0.0.1"}], "podIP": "10.244.0.5", "podIPs": [{"ip": "10.244.0.5"}]}
    return {"status": {**status, **addresses}}


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
    await load.call("POST", "/api/v1/namespaces/bench/serviceaccounts", {"metadata": {"name": "default"}})
    garbage.settle()
    for name, work, times in (
        ("create", load.create, 400),
        ("patch", load.patch, 400),
        ("apply", load.apply, 400),
        ("get", load.get, 1000),
        ("list", load.list, 20),
        ("pod", load.pod, 200),
        ("bind", load.bind, 100),
        ("status", load.status, 50),
    ):
        print(f"{name:<8}{await cost(work, times):>8.0f} µs")
        if name == profiled:
            with cProfile.Profile() as profile:
                await cost(work, times)
            pstats.Stats(profile).sort_stats("tottime").print_stats(40)
    await store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="What a request costs in the pipeline alone.")
    parser.add_argument("--profile", default="", choices=("create", "patch", "apply", "get", "list", "pod", "bind", "status"))
    options = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(measure(options.profile))


if __name__ == "__main__":
    main()
