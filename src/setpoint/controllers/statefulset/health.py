"""In what state a pod of a StatefulSet is."""

from __future__ import annotations

from setpoint.api.types import core_v1
from setpoint.controllers.owned_pods.state import is_available, is_ready


def is_terminating(pod: core_v1.Pod) -> bool:
    return bool(pod.metadata.deletion_timestamp)


def is_created(pod: core_v1.Pod) -> bool:
    """The server has given it a phase: it is there, and not only planned."""
    return bool(pod.status.phase)


def has_ended(pod: core_v1.Pod) -> bool:
    """It failed, or succeeded: also what was evicted or stopped by force may show as success, and is to be made anew."""
    return pod.status.phase in {"Failed", "Succeeded"}


def is_running_and_ready(pod: core_v1.Pod) -> bool:
    return pod.status.phase == "Running" and is_ready(pod)


def is_running_and_available(pod: core_v1.Pod, min_ready_seconds: int, now: float) -> bool:
    return pod.status.phase == "Running" and is_available(pod, min_ready_seconds, now)


def is_healthy(pod: core_v1.Pod, min_ready_seconds: int, now: float) -> bool:
    """Available, and nobody has deleted it."""
    return is_running_and_available(pod, min_ready_seconds, now) and not is_terminating(pod)
