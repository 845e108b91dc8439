"""A Deployment of 1,000 pods on 100 simulated nodes: until all are bound, and until all run.

Against a server elsewhere its own nodes are used; they have to be there, and simulated (KWOK's, for example).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import orjson
import uvloop
from benchmarks.report import Figure
from benchmarks.scenarios import Bench
from benchmarks.scenarios.fan_out import session_for
from benchmarks.target import NAMESPACE, Target

SIZES = ((1000, 100),)
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
GOAL = 500.0


def run(bench: Bench) -> Iterator[Figure]:
    for pods, nodes in ((100, 10),) if bench.quick else SIZES:
        found = []
        for number in range(bench.repeats):
            if bench.folder is None:
                context: Any = nullcontext(bench.subject)
            else:
                options = ("--runtime", "simulated", "--split")
                context, _ = bench.start(f"deployment-{number}", nodes=nodes, options=options)
            with context as target:
                target.call("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
                found.append(uvloop.run(roll_out(target, manifest(f"load-{time.monotonic_ns()}", pods), pods)))
        name = f"Deployment of {pods:,} pods, {nodes:,} nodes"
        yield Figure("deployment", f"{name}, bound", "pods/s", [pods / each["bound"] for each in found], goal=GOAL)
        yield Figure("deployment", f"{name}, running", "pods/s", [pods / each["running"] for each in found])


def manifest(name: str, pods: int, cpu: str = "10m", **spec: Any) -> dict[str, Any]:
    """`spec` goes into the pods'."""
    labels = {"app": name}
    resources = {"requests": {"cpu": cpu, "memory": "10Mi"}}
    container = {"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": resources}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container], **spec}}
    wanted = {"replicas": pods, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": wanted}


async def roll_out(target: Target, body: dict[str, Any], pods: int) -> dict[str, float]:
    """Seconds from the POST until all pods are bound, and until all run."""
    async with session_for(target) as session, session.get(f"{target.url}{PODS}?limit=1") as listed:
        revision = (await listed.json(content_type=None))["metadata"]["resourceVersion"]
        query = f"watch=true&resourceVersion={revision}&labelSelector=app%3D{body['metadata']['name']}"
        async with session.get(f"{target.url}{PODS}?{query}") as watch:
            began = time.monotonic()
            async with session.post(target.url + DEPLOYMENTS, json=body) as answer:
                answer.raise_for_status()
            return await asyncio.wait_for(_until_running(watch.content, pods, began), 1200)


async def _until_running(lines: Any, pods: int, began: float) -> dict[str, float]:
    bound: set[str] = set()
    running: set[str] = set()
    found: dict[str, float] = {}
    buffer = b""
    while len(running) < pods:
        *whole, buffer = (buffer + await lines.readany()).split(b"\n")
        for line in filter(None, whole):
            pod = orjson.loads(line)["object"]
            if pod["spec"].get("nodeName"):
                bound.add(pod["metadata"]["name"])
            if pod["status"].get("phase") == "Running":
                running.add(pod["metadata"]["name"])
        if len(bound) >= pods and "bound" not in found:
            found["bound"] = time.monotonic() - began
    return {**found, "running": time.monotonic() - began}
