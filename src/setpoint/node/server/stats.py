"""`/stats/summary` and `/metrics/resource`: what the node and its pods use, as JSON and for Prometheus. As kubelet has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson
from aiohttp import web

from setpoint.kit.clock import rfc3339
from setpoint.node.runtime import Usage
from setpoint.node.server.keys import AGENT
from setpoint.node.worker import PodWorker

if TYPE_CHECKING:
    from setpoint.node.agent import Agent

_CPU = "Cumulative cpu time consumed by the {} in core-seconds"
_MEMORY = "Current working set of the {} in bytes"
_METRICS = {
    f"{kind}_{suffix}": (type_, text.format(kind))
    for kind in ("container", "node", "pod")
    for suffix, type_, text in (
        ("cpu_usage_seconds_total", "counter", _CPU),
        ("memory_working_set_bytes", "gauge", _MEMORY),
    )
}
_NO_ERROR = (
    "# HELP resource_scrape_error [STABLE] 1 if there was an error while getting container metrics, 0 otherwise",
    "# TYPE resource_scrape_error gauge",
    "resource_scrape_error 0",
)


async def serve(request: web.Request) -> web.Response:
    """`/stats/summary`."""
    return web.Response(body=orjson.dumps(await _summary(request.app[AGENT])), content_type="application/json")


async def serve_resources(request: web.Request) -> web.Response:
    """`/metrics/resource`."""
    agent = request.app[AGENT]
    text = exposition(await _summary(agent), int(agent.clock.now() * 1000))
    return web.Response(text=text, content_type="text/plain", charset="utf-8")


def exposition(summary: Mapping[str, Any], stamp: int) -> str:
    """A summary in Prometheus' text format; `stamp` is its time in milliseconds since the epoch. Pure."""
    samples: dict[str, list[str]] = {name: [] for name in _METRICS}

    def add(kind: str, labels: Mapping[str, str], entry: Mapping[str, Any]) -> None:
        shown = ",".join(f'{name}="{value}"' for name, value in labels.items())
        braces = f"{{{shown}}}" if shown else ""
        for name, value in (
            (f"{kind}_cpu_usage_seconds_total", entry["cpu"]["usageCoreNanoSeconds"] / 1e9),
            (f"{kind}_memory_working_set_bytes", entry["memory"]["workingSetBytes"]),
        ):
            samples[name].append(f"{name}{braces} {value} {stamp}")

    add("node", {}, summary["node"])
    for pod in summary["pods"]:
        where = {"namespace": pod["podRef"]["namespace"], "pod": pod["podRef"]["name"]}
        cpu = sum(each["cpu"]["usageCoreNanoSeconds"] for each in pod["containers"])
        memory = sum(each["memory"]["workingSetBytes"] for each in pod["containers"])
        add("pod", where, {"cpu": {"usageCoreNanoSeconds": cpu}, "memory": {"workingSetBytes": memory}})
        for each in pod["containers"]:
            add("container", {"container": each["name"], **where}, each)
    lines = []
    for name, (kind, help_text) in _METRICS.items():
        lines += [f"# HELP {name} [STABLE] {help_text}", f"# TYPE {name} {kind}", *samples[name]]
    return "\n".join([*lines, *_NO_ERROR, ""])


async def _summary(agent: Agent) -> dict[str, Any]:
    import psutil

    now = rfc3339(agent.clock.now())
    memory, times = psutil.virtual_memory(), psutil.cpu_times()
    busy = times.user + times.system
    node = {
        "nodeName": agent.options.name,
        "startTime": rfc3339(psutil.boot_time()),
        "cpu": {"time": now, "usageCoreNanoSeconds": int(busy * 1e9)},
        "memory": {"time": now, "availableBytes": memory.available, "usageBytes": memory.used, "workingSetBytes": memory.used},
    }
    pods = [await _pod(worker, await agent.runtime.usage(worker.uid), now) for worker in agent.pods()]
    return {"node": node, "pods": pods}


async def _pod(worker: PodWorker, usage: dict[str, Usage] | Any, now: str) -> dict[str, Any]:
    meta = worker.core.pod.metadata
    containers = [
        {
            "name": track.name,
            "startTime": rfc3339(track.started_at),
            "cpu": {"time": now, "usageCoreNanoSeconds": int(usage[track.name].cpu_seconds * 1e9)},
            "memory": {
                "time": now,
                "usageBytes": usage[track.name].memory_bytes,
                "workingSetBytes": usage[track.name].memory_bytes,
                "rssBytes": usage[track.name].memory_bytes,
            },
        }
        for track in worker.core.tracks
        if track.name in usage
    ]
    return {
        "podRef": {"name": meta.name, "namespace": meta.namespace, "uid": meta.uid},
        "startTime": rfc3339(worker.core.start_time),
        "containers": containers,
        "process_stats": {"process_count": sum(each.processes for each in usage.values())},
    }
