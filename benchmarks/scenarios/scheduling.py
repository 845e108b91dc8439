"""Pods bound end to end, on simulated nodes with every part a process of its own; and what the scheduler alone costs.

By default a small form: batches of one Deployment after the other on the same nodes, so that cost can be seen against pods that
are placed already, and clusters of several sizes, for cost against nodes. With `--whole` the sizes that the goals are about.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import uvloop
from benchmarks import scheduler, servers, wrk
from benchmarks.report import Figure
from benchmarks.scenarios import Bench
from benchmarks.scenarios.deployment import DEPLOYMENTS, PODS, manifest, roll_out
from benchmarks.scenarios.fan_out import session_for
from benchmarks.target import NAMESPACE, Target

OPTIONS = ("--runtime", "simulated", "--split")
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
WRITERS = 16
SETTLED = 3.0  # seconds after a start in which its own work ends
ROOM = 4  # pods that take a whole node between them: its eight processors by two


@dataclass(frozen=True, slots=True)
class Case:
    """One cluster and the batches that are put into it, one after the other."""

    nodes: int
    plain: Sequence[int] = ()
    apart: int = 0
    preempting: int = 0


SMALL = (Case(20, plain=(100,)), Case(100, plain=(100, 100, 100), apart=50), Case(25, preempting=25))
QUICK = (Case(10, plain=(30,), apart=5), Case(5, preempting=5))
WHOLE = (
    Case(100, plain=(1000,)),
    Case(1000, plain=(5000,)),
    Case(5000, apart=2000, plain=(20000,)),
    Case(500, preempting=1000),
)
GOALS = {(1000, 100): 500.0, (5000, 1000): 350.0, (20000, 5000): 250.0}
APART_GOAL, PREEMPTION_GOAL = 80.0, 50.0
#: nodes, and pods placed, of the scheduler alone
ALONE_NODES, ALONE_PLACED = (100, 500, 1000, 2500, 5000), (0, 1000, 2000, 5000, 10000)


def run(bench: Bench) -> Iterator[Figure]:
    if bench.folder is None:
        raise RuntimeError("a server elsewhere cannot be looked into")
    with servers.bare(bench.folder / "scheduling-bare") as bare:
        bare.call("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        for number, case in enumerate(QUICK if bench.quick else WHOLE if bench.whole else SMALL):
            create = wrk.drive(bare, "create", WRITERS, bench.size(2, 1))
            server, _ = bench.start(f"scheduling-{number}", nodes=case.nodes, options=OPTIONS)
            with server as target:
                settle(target)
                yield from _batches(Cluster(target, case, create["per_second"], create["cpu_us"]))
    yield from _alone(bench)


def settle(target: Target) -> None:
    """A namespace whose pods can be made, and no work of the start any more."""
    target.call("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    while target.call("GET", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default")[0] != 200:
        time.sleep(0.2)
    time.sleep(SETTLED)


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster that runs, and the bare stack's creates: how many a second, and microseconds of processor time for one."""

    target: Target
    case: Case
    creates: float
    create_us: float

    def figure(self, name: str, pods: int, body: dict[str, Any], goal: float | None, **more: float) -> Figure:
        """One roll-out, until all run; what all processes computed for one pod is said beside it."""
        before = self.target.processor_seconds()
        found = uvloop.run(roll_out(self.target, body, pods))
        cost = (self.target.processor_seconds() - before) / pods * 1e6
        told = {"µs/pod": cost, "in bare creates": cost / self.create_us, **more}
        return Figure("scheduling", name, "pods/s", [pods / found["bound"]], [self.creates], goal=goal, more=told)


def _batches(cluster: Cluster) -> Iterator[Figure]:
    placed, case = 0, cluster.case
    if case.apart:
        body = manifest("apart", case.apart, **_apart("apart"))
        name = f"{case.apart:,} pods with anti-affinity and spread, {case.nodes:,} nodes, bound"
        yield cluster.figure(name, case.apart, body, APART_GOAL if case.nodes == 5000 else None)
        _remove(cluster.target, "apart")
    for number, pods in enumerate(case.plain):
        goal = GOALS.get((pods, case.nodes)) if not placed else None
        where = f"{case.nodes:,} nodes" + (f" with {placed:,} pods" if placed else "")
        points = {"nodes": case.nodes, "placed": placed}
        body = manifest(f"plain-{number}", pods)
        yield cluster.figure(f"Deployment of {pods:,} pods, {where}, bound", pods, body, goal, **points)
        placed += pods
    if case.preempting:
        yield _preempted(cluster)


def _apart(app: str) -> dict[str, Any]:
    """At most one pod on a node. Simulated nodes have no zones: spread over hosts, strictly, and over zones, softly."""
    selector = {"matchLabels": {"app": app}}
    strict = {"maxSkew": 1, "topologyKey": scheduler.HOSTNAME, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    soft = {**strict, "topologyKey": scheduler.ZONE, "whenUnsatisfiable": "ScheduleAnyway"}
    term = {"topologyKey": scheduler.HOSTNAME, "labelSelector": selector}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return {"affinity": affinity, "topologySpreadConstraints": [strict, soft]}


def _remove(target: Target, name: str) -> None:
    target.call("DELETE", f"{DEPLOYMENTS}/{name}")
    while target.call("GET", f"{PODS}?labelSelector=app%3D{name}&limit=1")[1].get("items"):
        time.sleep(0.5)


# -- preemption


def _preempted(cluster: Cluster) -> Figure:
    """Every node is full of pods that nobody makes again; then come more important ones, each in the place of one of them."""
    case, target = cluster.case, cluster.target
    for name, value in (("low", 1), ("high", 1000)):
        target.call("POST", CLASSES, {"metadata": {"name": name}, "value": value})
    uvloop.run(_fill(target, case.nodes * ROOM))
    body = manifest("high", case.preempting, cpu="1900m", priorityClassName="high")
    name = f"preemption of {case.preempting:,} pods, {case.nodes:,} nodes"
    return cluster.figure(name, case.preempting, body, PREEMPTION_GOAL if case.nodes == 500 else None)


async def _fill(target: Target, pods: int) -> None:
    low = manifest("low", 1, cpu="1900m", priorityClassName="low", terminationGracePeriodSeconds=0)["spec"]["template"]
    left = iter(range(pods))

    async def write() -> None:
        for number in left:
            body = {**low, "metadata": {**low["metadata"], "name": f"low-{number}"}}
            async with session.post(f"{target.url}{PODS}", json=body) as answer:
                answer.raise_for_status()

    async with session_for(target) as session:
        await _together(write)
        query = "labelSelector=app%3Dlow&fieldSelector=spec.nodeName%3D&limit=1"
        while True:
            async with session.get(f"{target.url}{PODS}?{query}") as answer:
                if not (await answer.json(content_type=None))["items"]:
                    return
            await asyncio.sleep(0.5)


async def _together(write: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(WRITERS):
            group.create_task(write())


# -- the scheduler alone


def _alone(bench: Bench) -> Iterator[Figure]:
    """Microseconds of processor time for one pod, without an API server."""
    scale = 1.0 if bench.whole else 0.02 if bench.quick else 0.1
    for name, case in scheduler.CASES.items():
        yield _cycles(f"scheduler alone, {name}" + (f", {scale:g} of it" if scale < 1 else ""), case, scale)
    pods = bench.size(500, 20)
    for nodes in ALONE_NODES[: None if bench.whole else 3]:
        name = f"scheduler alone, {pods} pods, {nodes:,} nodes"
        yield _cycles(name, scheduler.plain(pods, nodes), 1.0, nodes=nodes)
    for placed in ALONE_PLACED[: None if bench.whole else 3]:
        name = f"scheduler alone, {pods} pods, 500 nodes with {placed:,}"
        yield _cycles(name, scheduler.beside(pods, 500, placed), 1.0, placed=placed)


def _cycles(name: str, case: scheduler.Case, scale: float, **more: float) -> Figure:
    found = asyncio.run(scheduler.run(case, scale))
    told = {"longest slice ms": found["longest_slice_ms"], **more}
    return Figure("scheduling", name, "µs/pod", [found["us_per_pod"]], less_is_better=True, more=told)
