"""What a core knows of the time before it: an earlier agent's snapshot, or else what the API remembers of the pod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from setpoint.api.types.core_v1 import ContainerStateTerminated
from setpoint.kit.clock import parse_rfc3339
from setpoint.node.pod_worker import status
from setpoint.node.pod_worker.track import End, Phase, lost

if TYPE_CHECKING:
    from setpoint.node.pod_worker.core import PodCore


def snapshot(core: PodCore) -> dict[str, Any]:
    """What a later agent must know, as JSON."""
    return {
        "startTime": core.start_time,
        "addresses": list(core.addresses),
        "initialized": core.was_initialized,
        "deletingSince": core.deleting_since,
        "conditions": core.conditions,
        "verdict": [core.verdict.reason, core.verdict.message] if core.verdict else None,
        "containers": {track.name: track.snapshot() for track in core.tracks},
    }


def restore(core: PodCore, saved: Mapping[str, Any]) -> None:
    """Take over what an earlier agent wrote down."""
    core.start_time = saved["startTime"]
    core.addresses = tuple(saved["addresses"])
    core.was_initialized = saved["initialized"]
    core.deleting_since = saved["deletingSince"]
    core.conditions = {kind: (value[0], value[1], value[2], value[3]) for kind, value in saved["conditions"].items()}
    core.verdict = status.Verdict(*saved["verdict"]) if saved["verdict"] else None
    for track in core.tracks:
        if track.name in saved["containers"]:
            track.restore(saved["containers"][track.name])


def inherit(core: PodCore, now: float) -> None:
    """Without a snapshot, the API's own memory: start time, conditions, and containers of which nothing is left here."""
    known = core.pod.status
    if known.start_time:
        core.start_time = parse_rfc3339(known.start_time)
    for condition in known.conditions:
        since = parse_rfc3339(condition.last_transition_time) if condition.last_transition_time else now
        if condition.type in ("PodScheduled", "Initialized", "Ready", "ContainersReady", "PodReadyToStartContainers"):
            core.conditions[condition.type] = (condition.status, condition.reason, condition.message, since)
    for entry in (*known.init_container_statuses, *known.container_statuses, *known.ephemeral_container_statuses):
        track = next((track for track in core.tracks if track.name == entry.name), None)
        if track is None:
            continue
        track.attempt = entry.restart_count
        track.image_id = entry.image_id
        identity = entry.container_id.partition("://")[2]
        last = _end_of(entry.last_state.terminated, now)
        if entry.state.running is not None:  # it was another agent's, and is nowhere to be found
            started = parse_rfc3339(entry.state.running.started_at)
            end: End | None = lost(identity, started, now)
        elif entry.state.terminated is not None:
            end = _end_of(entry.state.terminated, now)
        else:
            end, last = last, None
        track.end, track.previous = end, last
        if end is not None:
            track.id, track.phase = end.id, Phase.ENDED


def _end_of(ended: ContainerStateTerminated | None, now: float) -> End | None:
    """A terminated state as the API tells it."""
    if ended is None:
        return None
    started = parse_rfc3339(ended.started_at) if ended.started_at else 0.0
    finished = parse_rfc3339(ended.finished_at) if ended.finished_at else now
    return End(ended.container_id.partition("://")[2], ended.exit_code, ended.reason, ended.message, started, finished)
