"""`/stats/summary`: what the node and its pods use."""

from __future__ import annotations

from typing import Any

import orjson
from aiohttp import web

from setpoint.kit.clock import rfc3339
from setpoint.node.runtime import Usage
from setpoint.node.server.keys import AGENT
from setpoint.node.worker import PodWorker


async def serve(request: web.Request) -> web.Response:
    import psutil

    agent = request.app[AGENT]
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
    return web.Response(body=orjson.dumps({"node": node, "pods": pods}), content_type="application/json")


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
