"""`/containerLogs/<namespace>/<pod>/<container>`."""

from __future__ import annotations

from aiohttp import web

from setpoint.kit.clock import parse_rfc3339
from setpoint.node import logs
from setpoint.node.launching import log_path
from setpoint.node.pod_worker.track import Phase, Track
from setpoint.node.server.keys import AGENT
from setpoint.node.server.lookup import container_of, flag, pod_of
from setpoint.node.worker import PodWorker


async def serve(request: web.Request) -> web.StreamResponse:
    """Stream the log; 400 with kubelet's words when there is none."""
    worker = pod_of(request)
    track = container_of(request, worker)
    attempt = _attempt(worker, track, previous=flag(request, "previous"))
    clock = request.app[AGENT].clock
    options = _options(request, clock.now())

    def running() -> bool:
        return track.running and track.attempt == attempt

    response = web.StreamResponse(headers={"Content-Type": "text/plain"})
    response.enable_chunked_encoding()
    await response.prepare(request)
    path = log_path(worker.directory, track.name, attempt)
    async for chunk in logs.read(path, options, clock, running):
        await response.write(chunk)
    await response.write_eof()
    return response


def _options(request: web.Request, now: float) -> logs.LogOptions:
    query = request.query
    since = 0.0
    try:
        if query.get("sinceSeconds"):
            since = now - int(query["sinceSeconds"])
        elif query.get("sinceTime"):
            since = parse_rfc3339(query["sinceTime"])
        return logs.LogOptions(
            follow=flag(request, "follow"),
            tail=int(query.get("tailLines") or -1),
            since=since,
            timestamps=flag(request, "timestamps"),
            limit_bytes=int(query.get("limitBytes") or 0),
            stream="" if query.get("stream", "All") == "All" else query["stream"],
        )
    except ValueError as error:
        raise web.HTTPBadRequest(text=str(error)) from error


def _attempt(worker: PodWorker, track: Track, *, previous: bool) -> int:
    """Which attempt's log is meant (kubelet's validateContainerLogStatus)."""
    meta = worker.core.pod.metadata
    last = track.attempt if track.phase in (Phase.RUNNING, Phase.ENDED) else track.attempt - 1
    if previous:
        # the attempt that lastState shows
        if track.end is not None and track.waiting_reason:
            return last
        if track.previous is not None:
            return last - 1
        raise web.HTTPBadRequest(text=f'previous terminated container "{track.name}" in pod "{meta.name}" not found')
    if track.running or track.end is not None:
        return last
    reason = track.waiting_reason or ("PodInitializing" if worker.core.pod.spec.init_containers else "ContainerCreating")
    if reason in ("ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"):
        text = f'container "{track.name}" in pod "{meta.name}" is waiting to start: trying and failing to pull image'
        raise web.HTTPBadRequest(text=text)
    raise web.HTTPBadRequest(text=f'container "{track.name}" in pod "{meta.name}" is waiting to start: {reason}')
