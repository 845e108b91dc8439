"""What a controller wants to know of a pod: active, ready, available, since when."""

from __future__ import annotations

from collections.abc import Sequence

from setpoint.api.types import core_v1
from setpoint.kit.clock import parse_rfc3339


def is_terminal(pod: core_v1.Pod) -> bool:
    """Its containers have ended for good."""
    return pod.status.phase in {"Succeeded", "Failed"}


def is_active(pod: core_v1.Pod) -> bool:
    """It runs or may still run, and nobody has deleted it."""
    return not pod.metadata.deletion_timestamp and not is_terminal(pod)


def is_terminating(pod: core_v1.Pod) -> bool:
    """It is being deleted and has not ended yet."""
    return bool(pod.metadata.deletion_timestamp) and not is_terminal(pod)


def ready_condition(pod: core_v1.Pod) -> core_v1.PodCondition | None:
    for condition in pod.status.conditions:  # asked of all pods again and again: a generator would cost twice as much
        if condition.type == "Ready":
            return condition
    return None


def is_ready(pod: core_v1.Pod) -> bool:
    condition = ready_condition(pod)
    return condition is not None and condition.status == "True"


def ready_since(pod: core_v1.Pod) -> float | None:
    """When it became ready, in seconds since the epoch; None when it is not ready or does not say."""
    condition = ready_condition(pod)
    if condition is None or condition.status != "True" or not condition.last_transition_time:
        return None
    return parse_rfc3339(condition.last_transition_time)


def is_available(pod: core_v1.Pod, min_ready_seconds: int, now: float) -> bool:
    """Ready for at least `min_ready_seconds`."""
    if not is_ready(pod):
        return False
    if min_ready_seconds == 0:
        return True
    since = ready_since(pod)
    return since is not None and since + min_ready_seconds <= now


def next_availability(pods: Sequence[core_v1.Pod], min_ready_seconds: int, now: float) -> float | None:
    """In how many seconds the next of the ready pods becomes available; None if none is waiting for that."""
    if min_ready_seconds == 0:
        return None
    waits = [since + min_ready_seconds - now for pod in pods if (since := ready_since(pod)) is not None]
    return min((wait for wait in waits if wait > 0), default=None)
