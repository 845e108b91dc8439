"""Pods bound end to end, on simulated nodes with every part a process of its own; and what the scheduler alone costs.

By default a small form: batches of one Deployment after the other on the same nodes, so that cost can be seen against pods that
are placed already, and clusters of several sizes, for cost against nodes. With `--whole` the sizes that the goals are about.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import uvloop
from benchmarks import scheduler
from benchmarks.report import Figure
from benchmarks.scenarios import Bench
from benchmarks.scenarios.deployment import DEPLOYMENTS, PODS, manifest, roll_out
from benchmarks.scenarios.fan_out import session_for
from benchmarks.target import NAMESPACE, Target

OPTIONS = ("--runtime", "simulated", "--split")
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
WRITERS = 16
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
    for number, case in enumerate(QUICK if bench.quick else WHOLE if bench.whole else SMALL):
        server, _ = bench.start(f"scheduling-{number}", nodes=case.nodes, options=OPTIONS)
        with server as target:
            target.call("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
            yield from _batches(target, case)
    yield from _alone(bench)


def _batches(target: Target, case: Case) -> Iterator[Figure]:
    placed, goals = 0, case.nodes == 5000
    if case.apart:
        spec = {"affinity": scheduler.AFFINITY, "topologySpreadConstraints": _spread("apart")}
        name = f"{case.apart:,} pods with anti-affinity and spread, {case.nodes:,} nodes, bound"
        yield _figure(target, name, case.apart, manifest("apart", case.apart, **_named(spec, "apart")), goals and APART_GOAL)
        _remove(target, "apart")
    for number, pods in enumerate(case.plain):
        body = manifest(f"plain-{number}", pods)
        goal = GOALS.get((pods, case.nodes)) if not placed else None
        where = f"{case.nodes:,} nodes" + (f" with {placed:,} pods" if placed else "")
        points = {"nodes": case.nodes, "placed": placed}
        yield _figure(target, f"Deployment of {pods:,} pods, {where}, bound", pods, body, goal, **points)
        placed += pods
    if case.preempting:
        yield _preempted(target, case)


def _figure(target: Target, name: str, pods: int, body: dict[str, Any], goal: float | None, **more: float) -> Figure:
    """One roll-out, until all run; what all processes computed for one pod is said beside it."""
    before = target.processor_seconds()
    found = uvloop.run(roll_out(target, body, pods))
    cost = (target.processor_seconds() - before) / pods * 1e6
    return Figure("scheduling", name, "pods/s", [pods / found["bound"]], goal=goal or None, more={"µs/pod": cost, **more})


def _spread(app: str) -> list[dict[str, Any]]:
    """Simulated nodes have no zones: spread over hosts, strictly and softly."""
    selector = {"matchLabels": {"app": app}}
    strict = {"maxSkew": 1, "topologyKey": scheduler.HOSTNAME, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    return [strict, {**strict, "topologyKey": scheduler.ZONE, "whenUnsatisfiable": "ScheduleAnyway"}]


def _named(spec: dict[str, Any], app: str) -> dict[str, Any]:
    """The same with the selectors of another application."""
    term = {"topologyKey": scheduler.HOSTNAME, "labelSelector": {"matchLabels": {"app": app}}}
    return {**spec, "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def _remove(target: Target, name: str) -> None:
    target.call("DELETE", f"{DEPLOYMENTS}/{name}")
    while target.call("GET", f"{PODS}?labelSelector=app%3D{name}&limit=1")[1].get("items"):
        time.sleep(0.5)


# -- preemption


def _preempted(target: Target, case: Case) -> Figure:
    """Every node is full of pods that nobody makes again; then come more important ones, each in the place of one of them."""
    for name, value in (("low", 1), ("high", 1000)):
        target.call("POST", CLASSES, {"metadata": {"name": name}, "value": value})
    uvloop.run(_fill(target, case.nodes * ROOM))
    body = manifest("high", case.preempting, cpu="1900m", priorityClassName="high")
    name = f"preemption of {case.preempting:,} pods, {case.nodes:,} nodes"
    return _figure(target, name, case.preempting, body, PREEMPTION_GOAL if case.nodes == 500 else None)


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


async def _together(write: Callable[[], Awaitable[None]]) -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(WRITERS):
            group.create_task(write())  # type: ignore[arg-type]


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
