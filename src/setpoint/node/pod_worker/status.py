"""A pod's status from what is known of its containers: pure functions.

Source of the rules: kubelet's kubelet_pods.go (getPhase, convertToAPIContainerStatuses) and status/generate.go (conditions).
Every condition keeps its transition time while its status stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from setpoint.api.types.core_v1 import Pod
from setpoint.kit.clock import rfc3339
from setpoint.node.pod_worker.track import End, Phase, Track, restarts

RUNTIME = "process"


class Place(Struct, frozen=True):
    """What the node adds to every pod's status. `scheme` stands before `://` in container ids."""

    host_address: str
    scheme: str = RUNTIME


class Verdict(Struct, frozen=True):
    """A pod that failed as a whole (`DeadlineExceeded`, `Evicted` …)."""

    reason: str
    message: str


Conditions = dict[str, tuple[str, str, str, float]]  # type -> status, reason, message, since


def pod_status(
    pod: Pod,
    tracks: Sequence[Track],
    place: Place,
    *,
    phase: str,
    addresses: Sequence[str],
    conditions: Conditions,
    start_time: float,
    verdict: Verdict | None,
) -> dict[str, Any]:
    """The members of `status` that a node owns; None for one that must go."""
    init = [track for track in tracks if track.init]
    main = [track for track in tracks if track.main]
    ephemeral = [track for track in tracks if track.ephemeral]
    generation = pod.metadata.generation
    return {
        "phase": phase,
        "conditions": [_condition(kind, value, generation) for kind, value in conditions.items()],
        "reason": verdict.reason if verdict else None,
        "message": verdict.message if verdict else None,
        "hostIP": place.host_address,
        "hostIPs": [{"ip": place.host_address}],
        "podIP": addresses[0] if addresses else None,
        "podIPs": [{"ip": address} for address in addresses] or None,
        "startTime": rfc3339(start_time),
        "initContainerStatuses": [container_status(pod, track, place) for track in init] or None,
        "containerStatuses": [container_status(pod, track, place) for track in main],
        "ephemeralContainerStatuses": [container_status(pod, track, place) for track in ephemeral] or None,
        "observedGeneration": generation or None,
    }


def _condition(kind: str, value: tuple[str, str, str, float], generation: int) -> dict[str, Any]:
    """As a patch merges it into the list: what is no longer so must be said to be nothing."""
    status, reason, message, since = value
    return {
        "type": kind,
        "status": status,
        "reason": reason or None,
        "message": message or None,
        "lastProbeTime": None,
        "lastTransitionTime": rfc3339(since),
        "observedGeneration": generation or None,
    }


def container_status(pod: Pod, track: Track, place: Place) -> dict[str, Any]:
    """One entry of containerStatuses. An ephemeral container is never ready, and nothing says that it started."""
    out: dict[str, Any] = {
        "name": track.name,
        "state": _state(pod, track, place),
        "lastState": {},
        "ready": not track.ephemeral and (track.is_ready or (track.init and not track.sidecar and track.succeeded)),
        "restartCount": _restart_count(track),
        "image": track.spec.image,
        "imageID": track.image_id,
    }
    if not track.ephemeral:
        out["started"] = track.started
    last = track.end if "terminated" not in out["state"] and track.end is not None else track.previous
    if last is not None:
        out["lastState"] = {"terminated": _terminated(last, place)}
    if identity := _identity(track):
        out["containerID"] = f"{place.scheme}://{identity}"
    if track.spec.resources.requests or track.spec.resources.limits:
        out |= _resources(track)
    mounts = [_mount_status(mount.name, mount.mount_path, read_only=mount.read_only) for mount in track.spec.volume_mounts]
    if mounts:
        out["volumeMounts"] = mounts
    return out


def _restart_count(track: Track) -> int:
    """Of what ran last: an attempt that has not come to run does not count yet."""
    return track.attempt - 1 if track.end is not None and track.phase in (Phase.WAITING, Phase.STARTING) else track.attempt


def _identity(track: Track) -> str:
    if track.phase in (Phase.RUNNING, Phase.ENDED):
        return track.id
    return track.end.id if track.end is not None else ""


def _resources(track: Track) -> dict[str, Any]:
    resources = {
        kind: dict(values)
        for kind, values in (("limits", track.spec.resources.limits), ("requests", track.spec.resources.requests))
        if values
    }
    allocated = {"allocatedResources": dict(track.spec.resources.requests)} if track.spec.resources.requests else {}
    return {"resources": resources, **allocated}


def _mount_status(name: str, path: str, *, read_only: bool) -> dict[str, Any]:
    out: dict[str, Any] = {"name": name, "mountPath": path}
    if read_only:
        out |= {"readOnly": True, "recursiveReadOnly": "Disabled"}
    return out


def _state(pod: Pod, track: Track, place: Place) -> dict[str, Any]:
    if track.running:
        return {"running": {"startedAt": rfc3339(track.started_at)}}
    if track.phase is Phase.ENDED and track.end is not None and not track.waiting_reason:
        return {"terminated": _terminated(track.end, place)}
    if track.waiting_reason:
        waiting = {"reason": track.waiting_reason}
        if track.waiting_message:
            waiting["message"] = track.waiting_message
        return {"waiting": waiting}
    if track.end is not None:  # its next attempt is just being started
        return {"terminated": _terminated(track.end, place)}
    return {"waiting": {"reason": "PodInitializing" if pod.spec.init_containers else "ContainerCreating"}}


def _terminated(end: End, place: Place) -> dict[str, Any]:
    out: dict[str, Any] = {
        "exitCode": end.exit_code,
        "reason": end.reason,
        "startedAt": rfc3339(end.started_at) if end.started_at else None,
        "finishedAt": rfc3339(end.finished_at) if end.finished_at else None,
        "containerID": f"{place.scheme}://{end.id}" if end.id else None,
        "message": end.message or None,
    }
    return {key: value for key, value in out.items() if value is not None}


# -- phase


def initialized(tracks: Sequence[Track]) -> bool:
    """Whether the init containers did their part: plain ones ended well, sidecars started."""
    return not incomplete_init(tracks)


def incomplete_init(tracks: Sequence[Track]) -> list[str]:
    return [track.name for track in tracks if track.init and not (track.started if track.sidecar else track.succeeded)]


def phase_of(pod: Pod, tracks: Sequence[Track], *, was_initialized: bool, stopped: bool) -> str:
    """`stopped` means that nothing of the pod runs or will run any more."""
    init = [track for track in tracks if track.init and not track.sidecar]
    main = [track for track in tracks if track.main]
    never_ran = [track for track in main if not track.running and track.end is None]
    if any(failed_for_good(pod, track) for track in init):
        return "Failed"
    if stopped:
        ended_well = not never_ran and all(track.succeeded for track in main)
        return "Succeeded" if ended_well else "Failed"
    if (not was_initialized and not initialized(tracks)) or never_ran:
        return "Pending"
    if any(track.running for track in main) or any(restarts(pod, track) for track in main):
        return "Running"
    if any(track.sidecar and track.active for track in tracks):
        return "Running"
    return "Succeeded" if all(track.succeeded for track in main) else "Failed"


def failed_for_good(pod: Pod, track: Track) -> bool:
    ended = track.phase is Phase.ENDED and track.end is not None and track.end.exit_code != 0
    return ended and not restarts(pod, track)


# -- conditions


def conditions_of(
    pod: Pod, tracks: Sequence[Track], *, phase: str, was_initialized: bool, sandbox: bool
) -> Mapping[str, tuple[str, str, str]]:
    """Status, reason and message of each condition, in kubelet's order."""
    containers = _containers_ready(tracks, phase)
    return {
        "PodReadyToStartContainers": ("True" if sandbox else "False", "", ""),
        "Initialized": _initialized(tracks, phase, was_initialized=was_initialized),
        "Ready": _ready(pod, containers),
        "ContainersReady": containers,
        "PodScheduled": ("True", "", ""),
    }


def _initialized(tracks: Sequence[Track], phase: str, *, was_initialized: bool) -> tuple[str, str, str]:
    if phase == "Succeeded":
        return "True", "PodCompleted", ""
    incomplete = incomplete_init(tracks)
    if incomplete and not was_initialized:
        return "False", "ContainersNotInitialized", f"containers with incomplete status: [{' '.join(incomplete)}]"
    return "True", "", ""


def _containers_ready(tracks: Sequence[Track], phase: str) -> tuple[str, str, str]:
    if phase == "Succeeded":
        return "False", "PodCompleted", ""
    if phase == "Failed":
        return "False", "PodFailed", ""
    unready = [track.name for track in tracks if (track.main or track.sidecar) and not track.is_ready]
    if unready:
        return "False", "ContainersNotReady", f"containers with unready status: [{' '.join(unready)}]"
    return "True", "", ""


def _ready(pod: Pod, containers: tuple[str, str, str]) -> tuple[str, str, str]:
    if containers[0] != "True":
        return containers
    known = {condition.type: condition.status for condition in pod.status.conditions}
    complaints = []
    for gate in pod.spec.readiness_gates:
        if gate.condition_type not in known:
            complaints.append(f'corresponding condition of pod readiness gate "{gate.condition_type}" does not exist.')
        elif known[gate.condition_type] != "True":
            complaints.append(
                f'the status of pod readiness gate "{gate.condition_type}" is not "True", but {known[gate.condition_type]}'
            )
    return ("False", "ReadinessGatesNotReady", ", ".join(complaints)) if complaints else ("True", "", "")
