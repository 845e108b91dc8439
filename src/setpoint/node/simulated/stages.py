"""The stages of a simulated pod's life, as a pure function of its status and age; and the status that each stage writes.

bound ─▶ (ContainerCreating) ─create─▶ Running ─ready─▶ Ready ─fail─▶ restarted, or Failed
└complete─▶ Succeeded (unless it restarts always)
deleted ─stop─▶ gone
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from setpoint.api.types import core_v1
from setpoint.kit.clock import rfc3339

KILLED = 137
IN_SERVICE = "ready"
QUICK = 1.0
"""Seconds that are not worth a write: a pod whose containers are made within them is written once, when it runs.

So KWOK's `pod-ready` does it; half of what a pod's start costs everybody is this write.
"""


class Stages(Struct, frozen=True):
    """Delays in seconds. `fail` and `complete` None: it never does; `fail` repeats after each restart."""

    create: float = 1.0
    ready: float = 0.0
    stop: float = 1.0
    fail: float | None = None
    complete: float | None = None
    exit_code: int = 1


class Place(Struct, frozen=True):
    """Where the pod is: the addresses that go into its status."""

    host_ip: str
    pod_ip: str


@dataclass(frozen=True, slots=True)
class Step:
    """What comes next, `after` seconds in the stage `stage`. `status(place, now)` is None where the pod is to be deleted.

    Declared stages may also replace the finalizers, and tell an event: its type, its reason, and what makes its message.
    One that is `aside` is done at once, and the stage that the pod is in goes on.
    """

    stage: str
    after: float
    status: Callable[[Place, float], dict[str, Any]] | None = field(compare=False, default=None)
    finalizers: list[str] | None = None
    event: tuple[str, str, Callable[[], str]] | None = field(compare=False, default=None)
    aside: bool = False


def next_step(pod: core_v1.Pod, stages: Stages, *, lost: bool = False) -> Step | None:
    """The next step of a pod; `lost`: its containers died with the node. None when it stays as it is."""
    if pod.metadata.deletion_timestamp:
        grace = pod.metadata.deletion_grace_period_seconds
        after = stages.stop if grace is None else min(stages.stop, grace)
        if pod.metadata.finalizers and pod.status.phase not in {"Succeeded", "Failed"}:
            # Somebody waits for its end, and will see the pod only as long as the finalizer is there: say how it ended.
            return Step("ending", after, lambda place, now: ended(pod, place, now, KILLED))
        return Step("stopping", after)
    if pod.status.phase in {"Succeeded", "Failed"}:
        return None
    statuses = pod.status.container_statuses
    if not statuses and stages.create > QUICK:
        return Step("bound", 0.0, lambda place, now: creating(pod, place, now))
    if not statuses or any(status.state.running is None for status in statuses):
        return Step("creating", stages.create, lambda place, now: running(pod, place, now, ready=not stages.ready))
    if lost:
        return Step("lost", stages.create, lambda place, now: {**restarted(pod, place, now, KILLED), **_debug_ended(pod, now)})
    if len(pod.spec.ephemeral_containers) > len(pod.status.ephemeral_container_statuses):
        return Step("debugging", 0.0, lambda _, now: debugged(pod, now), aside=True)
    if not is_ready(pod):
        return Step("running", stages.ready, lambda place, now: running(pod, place, now, ready=True))
    return _in_service(pod, stages)


def _in_service(pod: core_v1.Pod, stages: Stages) -> Step | None:
    policy = pod.spec.restart_policy
    age = f"{IN_SERVICE} {sum(status.restart_count for status in pod.status.container_statuses)}"
    if stages.complete is not None and policy != "Always":
        return Step(age, stages.complete, lambda place, now: ended(pod, place, now, 0))
    if stages.fail is None:
        return None
    if policy == "Never":
        return Step(age, stages.fail, lambda place, now: ended(pod, place, now, stages.exit_code))
    return Step(age, stages.fail, lambda place, now: restarted(pod, place, now, stages.exit_code))


def is_ready(pod: core_v1.Pod) -> bool:
    return any(condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions)


def creating(pod: core_v1.Pod, place: Place, now: float) -> dict[str, Any]:
    state = {"waiting": {"reason": "ContainerCreating"}}
    return {
        **_common(pod, place, pod_ip=False),
        "phase": "Pending",
        "startTime": rfc3339(now),
        "containerStatuses": [_container(each, state, ready=False) for each in pod.spec.containers],
        "conditions": _conditions(pod, now, started=False, ready=False),
    }


def running(pod: core_v1.Pod, place: Place, now: float, *, ready: bool) -> dict[str, Any]:
    former = {status.name: status for status in pod.status.container_statuses}

    def container(each: core_v1.Container) -> dict[str, Any]:
        status = former.get(each.name)
        known = status.state.running if status is not None else None
        started = known.started_at if known is not None else rfc3339(now)
        restarts = status.restart_count if status is not None else 0
        return _container(each, {"running": {"startedAt": started}}, ready=ready, restarts=restarts)

    return {
        **_common(pod, place),
        "phase": "Running",
        "startTime": pod.status.start_time or rfc3339(now),
        "containerStatuses": [container(each) for each in pod.spec.containers],
        "conditions": _conditions(pod, now, started=True, ready=ready),
    }


def restarted(pod: core_v1.Pod, place: Place, now: float, exit_code: int) -> dict[str, Any]:
    """All containers ended and were started anew, and are not ready yet."""
    restarts = {status.name: status.restart_count + 1 for status in pod.status.container_statuses}
    last = {"terminated": _terminated(exit_code, began=rfc3339(now), finished=rfc3339(now))}
    state = {"running": {"startedAt": rfc3339(now)}}
    return {
        **_common(pod, place),
        "phase": "Running",
        "containerStatuses": [
            {**_container(each, state, ready=False, restarts=restarts.get(each.name, 1)), "lastState": last}
            for each in pod.spec.containers
        ],
        "conditions": _conditions(pod, now, started=True, ready=False),
    }


def debugged(pod: core_v1.Pod, now: float) -> dict[str, Any]:
    """Ephemeral containers run as soon as they are there, beside the others, until the pod ends."""
    return {"ephemeralContainerStatuses": [_ephemeral(pod, each.name, each.image, now) for each in pod.spec.ephemeral_containers]}


def _debug_ended(pod: core_v1.Pod, now: float) -> dict[str, Any]:
    """What ended with the pod's other containers, and is not started again."""
    known = pod.status.ephemeral_container_statuses
    statuses = [_ephemeral(pod, each.name, each.image, now, end=True) for each in known]
    return {"ephemeralContainerStatuses": statuses} if statuses else {}


def _ephemeral(pod: core_v1.Pod, name: str, image: str, now: float, *, end: bool = False) -> dict[str, Any]:
    former = next((each.state for each in pod.status.ephemeral_container_statuses if each.name == name), None)
    gone = former.terminated if former is not None else None
    began = former.running.started_at if former is not None and former.running is not None else rfc3339(now)
    state: dict[str, Any] = {"running": {"startedAt": began}}
    if gone is not None:
        state = {"terminated": _terminated(gone.exit_code, began=gone.started_at, finished=gone.finished_at)}
    elif end:
        state = {"terminated": _terminated(KILLED, began=began, finished=rfc3339(now))}
    return {
        "name": name,
        "image": image,
        "imageID": f"simulated://{image}",
        "ready": False,
        "restartCount": 0,
        "state": state,
        "lastState": {},
    }


def ended(pod: core_v1.Pod, place: Place, now: float, exit_code: int) -> dict[str, Any]:
    """The containers ended for good."""
    state = {"terminated": _terminated(exit_code, began=rfc3339(now), finished=rfc3339(now))}
    reason = "PodFailed" if exit_code else "PodCompleted"
    return {
        **_common(pod, place),
        "phase": "Failed" if exit_code else "Succeeded",
        "containerStatuses": [_container(each, state, ready=False) for each in pod.spec.containers],
        **_debug_ended(pod, now),
        "conditions": _conditions(pod, now, started=False, ready=False, reason=reason),
    }


def _common(pod: core_v1.Pod, place: Place, *, pod_ip: bool = True) -> dict[str, Any]:
    status: dict[str, Any] = {
        "observedGeneration": pod.metadata.generation,
        "hostIP": place.host_ip,
        "hostIPs": [{"ip": place.host_ip}],
    }
    if pod_ip:
        status |= {"podIP": place.pod_ip, "podIPs": [{"ip": place.pod_ip}]}
    return status


def _terminated(exit_code: int, *, began: str, finished: str) -> dict[str, Any]:
    reason = "Error" if exit_code else "Completed"
    return {"exitCode": exit_code, "reason": reason, "startedAt": began, "finishedAt": finished}


def _container(container: core_v1.Container, state: Mapping[str, Any], *, ready: bool, restarts: int = 0) -> dict[str, Any]:
    return {
        "name": container.name,
        "image": container.image,
        "imageID": "" if "waiting" in state else f"simulated://{container.image}",
        "ready": ready,
        "started": "running" in state,
        "restartCount": restarts,
        "state": state,
        "lastState": {},
    }


def _conditions(
    pod: core_v1.Pod, now: float, *, started: bool, ready: bool, reason: str = "ContainersNotReady"
) -> list[dict[str, Any]]:
    """The kubelet's conditions; one whose status stays keeps its transition time."""
    names = " ".join(container.name for container in pod.spec.containers)
    unready = {} if ready else {"reason": reason}
    if unready and reason == "ContainersNotReady":
        unready["message"] = f"containers with unready status: [{names}]"
    wanted = {
        "PodReadyToStartContainers": (started, {}),
        "Initialized": (True, {}),
        "Ready": (ready, unready),
        "ContainersReady": (ready, unready),
    }
    former = {condition.type: condition for condition in pod.status.conditions}
    return [_condition(former.get(name), name, value, text, pod, now) for name, (value, text) in wanted.items()]


def _condition(  # the parts of a condition
    former: core_v1.PodCondition | None, type: str, value: bool, text: Mapping[str, str], pod: core_v1.Pod, now: float
) -> dict[str, Any]:
    status = str(value)
    same = former is not None and former.status == status and former.last_transition_time
    return {
        "type": type,
        "status": status,
        "lastProbeTime": None,
        "lastTransitionTime": former.last_transition_time if former is not None and same else rfc3339(now),
        "reason": None,
        "message": None,
        "observedGeneration": pod.metadata.generation,
        **text,
    }
