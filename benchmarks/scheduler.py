"""What scheduling costs, without an API server: the scheduler's own cycles against a fake API that only remembers bindings.

    python benchmarks/scheduler.py [--profile] [--scale 0.1] [case …]

Processor time per pod counts: other work on the machine does not change it. Every case prints pods, nodes, pods per second of
processor time, microseconds per pod, and the longest slice of work (what a request beside it would have had to wait).
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import pstats
import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from setpoint.api.types.apps_v1 import REPLICASETS
from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import NODES, PODS, Node, Pod
from setpoint.client.client import WatchEvent
from setpoint.client.informer import ADDED, DELETED, MODIFIED
from setpoint.kit.clock import RealClock
from setpoint.kit.tasks import Tasks
from setpoint.scheduler.scheduler import Scheduler
from setpoint.scheduler.watching import UNFINISHED

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
Case = Callable[[float], tuple[list[Node], list[Pod], Iterator[Pod]]]


class FakeApi:
    """Binds at once; what is written comes back to `bound` as the informer would bring it."""

    def __init__(self) -> None:
        self.bound: Callable[[str, str], None] = lambda *_: None
        self.gone: Callable[[str], None] = lambda _: None

    async def create_subresource(self, _: Any, name: str, __: str, body: Any, ___: str) -> None:
        await asyncio.sleep(0)
        self.bound(name, body["target"]["name"])

    async def patch(self, *_: Any, **__: Any) -> None:
        await asyncio.sleep(0)

    async def delete(self, _: Any, name: str, *__: Any, **___: Any) -> None:
        await asyncio.sleep(0)
        self.gone(name)


class NoEvents:
    """Nobody reads events here."""

    def event(self, *_: Any, **__: Any) -> None: ...


def a_node(number: int, cpu: str = "32") -> Node:
    labels = {HOSTNAME: f"n{number}", ZONE: f"zone-{number % 3}"}
    allocatable = {"cpu": cpu, "memory": "256Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    conditions = [{"type": "Ready", "status": "True"}]
    status = {"allocatable": allocatable, "capacity": allocatable, "conditions": conditions}
    return convert({"metadata": {"name": f"n{number}", "labels": labels}, "status": status}, Node)


def a_pod(number: int, app: str = "web", cpu: str = "100m", node: str = "", **spec: Any) -> Pod:
    container = {"name": "c", "image": "registry/web:1", "resources": {"requests": {"cpu": cpu, "memory": "128Mi"}}}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{app}-1", "uid": "u", "controller": True}
    meta = {
        "name": f"{app}-{number}",
        "namespace": "default",
        "uid": f"uid-{app}-{number}",
        "generation": 1,
        "labels": {"app": app, "pod-template-hash": "1"},
        "ownerReferences": [owner],
    }
    tolerations = [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in ("not-ready", "unreachable")
    ]
    body = {"containers": [container], "schedulerName": "default-scheduler", "nodeName": node, "tolerations": tolerations, **spec}
    return convert({"metadata": meta, "spec": body}, Pod)


def replica_set(app: str) -> dict[str, Any]:
    return {"metadata": {"name": f"{app}-1", "namespace": "default"}, "spec": {"selector": {"matchLabels": {"app": app}}}}


def plain(pods: int, nodes: int, **spec: Any) -> Case:
    def make(scale: float) -> tuple[list[Node], list[Pod], Iterator[Pod]]:
        return [a_node(n) for n in range(int(nodes * scale))], [], (a_pod(n, **spec) for n in range(int(pods * scale)))

    return make


def beside(pods: int, nodes: int, placed: int) -> Case:
    """Plain pods that come to nodes with as many of the same application."""

    def make(scale: float) -> tuple[list[Node], list[Pod], Iterator[Pod]]:
        count = int(nodes * scale)
        there = [a_pod(n, node=f"n{n % count}") for n in range(int(placed * scale))]
        first = len(there)
        return [a_node(n) for n in range(count)], there, (a_pod(first + n) for n in range(int(pods * scale)))

    return make


SELECTOR = {"matchLabels": {"app": "web"}}
SPREAD = [
    {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECTOR},
    {"maxSkew": 2, "topologyKey": HOSTNAME, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": SELECTOR},
]
APART = [{"topologyKey": HOSTNAME, "labelSelector": SELECTOR}]
AFFINITY = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": APART}}


def preemption(pods: int, nodes: int) -> Case:
    def make(scale: float) -> tuple[list[Node], list[Pod], Iterator[Pod]]:
        count = int(nodes * scale)
        low = [a_pod(n, "low", "1", f"n{n % count}", priority=0) for n in range(count * 4)]
        high = (a_pod(n, "high", "2", priority=1000) for n in range(int(pods * scale)))
        return [a_node(n, "4") for n in range(count)], low, high

    return make


CASES: dict[str, Case] = {
    "1000 on 100": plain(1000, 100),
    "5000 on 1000": plain(5000, 1000),
    "20000 on 5000": plain(20000, 5000),
    "anti-affinity and spread, 2000 on 5000": plain(2000, 5000, affinity=AFFINITY, topologySpreadConstraints=SPREAD),
    "preemption of 1000 on 500": preemption(1000, 500),
}


async def run(make: Case, scale: float) -> dict[str, Any]:
    nodes, placed, waiting = make(scale)
    api: Any = FakeApi()
    recorder: Any = NoEvents()
    scheduler = Scheduler(api, RealClock(), recorder=recorder, rng=random.Random(1))  # noqa: S311 - a lot among equals
    for app in ("web", "low", "high"):
        scheduler.informers.of(REPLICASETS).store.put(convert(replica_set(app), REPLICASETS.type))
    scheduler.informers.of(NODES).apply([WatchEvent(ADDED, node) for node in nodes])
    told = scheduler.informers.of(PODS, field_selector=UNFINISHED)
    pods = {pod.metadata.name: pod for pod in placed}
    told.apply([WatchEvent(ADDED, pod) for pod in placed])
    left = set()
    all_bound = asyncio.Event()

    def bound(name: str, node: str) -> None:
        pod = pods[name]
        pods[name] = pod = replace(pod, spec=replace(pod.spec, node_name=node))
        told.apply([WatchEvent(MODIFIED, pod)])
        left.discard(name)
        if not left:
            all_bound.set()

    def gone(name: str) -> None:
        if name in pods:
            told.apply([WatchEvent(DELETED, pods.pop(name))])

    api.bound, api.gone = bound, gone
    new = [*waiting]
    for pod in new:
        left.add(pod.metadata.name)
        pods[pod.metadata.name] = pod
    longest = [0.0]

    async with Tasks("benchmark") as tasks:
        begun = time.process_time()
        for pod in new:
            told.apply([WatchEvent(ADDED, pod)])
        queued = time.process_time()
        tasks.start("cycles", scheduler.cycles(tasks))
        tasks.start("lag", _watch_lag(longest))
        async with asyncio.timeout(600):
            await all_bound.wait()
        ended = time.process_time()
        tasks.stop()
    seconds = ended - begun
    return {
        "pods": len(new),
        "nodes": len(nodes),
        "pods_per_cpu_second": round(len(new) / seconds),
        "us_per_pod": round(seconds / len(new) * 1e6),
        "us_per_pod_to_queue": round((queued - begun) / len(new) * 1e6),
        "longest_slice_ms": round(longest[0] * 1e3, 1),
    }


async def _watch_lag(longest: list[float]) -> None:
    """The most processor time that went by between two turns of this task."""
    last = time.process_time()
    while True:
        await asyncio.sleep(0)
        now = time.process_time()
        longest[0] = max(longest[0], now - last)
        last = now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help="parts of their names")
    parser.add_argument("--profile", action="store_true", help="show where the time goes")
    parser.add_argument("--scale", type=float, default=1.0, help="a part of the pods and nodes")
    options = parser.parse_args()
    for name, case in CASES.items():
        if options.cases and not any(part in name for part in options.cases):
            continue
        profiler = cProfile.Profile() if options.profile else None
        if profiler is not None:
            profiler.enable()
        figures = asyncio.run(run(case, options.scale))
        if profiler is not None:
            profiler.disable()
            pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(25)
        print(json.dumps({"case": name, **figures}), flush=True)


if __name__ == "__main__":
    main()
