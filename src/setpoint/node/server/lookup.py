"""The pod and container that a request names; kubelet's words when there is none."""

from __future__ import annotations

from aiohttp import web

from setpoint.node.pod_worker.track import Track
from setpoint.node.server.keys import AGENT
from setpoint.node.worker import PodWorker


def pod_of(request: web.Request) -> PodWorker:
    """Raises 404."""
    info = request.match_info
    worker = request.app[AGENT].find_pod(info["namespace"], info["pod"], info.get("uid", ""))
    if worker is None:
        raise web.HTTPNotFound(text=f'pod "{info["pod"]}" not found')
    return worker


def container_of(request: web.Request, worker: PodWorker) -> Track:
    """Raises 404."""
    name = request.match_info["container"]
    for track in worker.core.tracks:
        if track.name == name:
            return track
    raise web.HTTPNotFound(text=f'container "{name}" not found in pod "{request.match_info["pod"]}"')


def flag(request: web.Request, *names: str) -> bool:
    """Whether one of the parameters is given and true."""
    return any(request.query.get(name, "") not in ("", "0", "false", "False") for name in names)
