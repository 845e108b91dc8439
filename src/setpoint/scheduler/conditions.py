"""What the scheduler writes about a pod: its PodScheduled condition, the node promised to it, and why a victim has to go."""

from __future__ import annotations

from typing import Any

from setpoint.api.types.core_v1 import Pod, PodCondition
from setpoint.kit.clock import rfc3339

UNSCHEDULABLE, SCHEDULER_ERROR = "Unschedulable", "SchedulerError"
EVENT_MESSAGE_LIMIT = 1024


def _condition(pod: Pod, kind: str) -> PodCondition | None:
    return next((condition for condition in pod.status.conditions if condition.type == kind), None)


def _says(pod: Pod, kind: str, status: str, reason: str, message: str) -> bool:
    old = _condition(pod, kind)
    return old is not None and (old.status, old.reason, old.message) == (status, reason, message)


def _entry(pod: Pod, kind: str, status: str, reason: str, message: str, now: float) -> dict[str, Any]:
    """The condition as a strategic-merge list item; the transition time is kept while the status stays."""
    old = _condition(pod, kind)
    same = old is not None and old.status == status and old.last_transition_time
    return {
        "type": kind,
        "status": status,
        "observedGeneration": pod.metadata.generation,
        "lastProbeTime": None,
        "lastTransitionTime": old.last_transition_time if old is not None and same else rfc3339(now),
        "reason": reason,
        "message": message,
    }


def _patch(pod: Pod, status: dict[str, Any]) -> dict[str, Any]:
    # The uid makes the patch fail for another pod of the same name.
    return {"metadata": {"uid": pod.metadata.uid}, "status": status}


def not_scheduled(pod: Pod, reason: str, message: str, promise: str | None, now: float) -> dict[str, Any] | None:
    """The status patch for a pod that found no node; None when it says all this already.

    `promise` is the node to be promised to it, "" to take the promise back, None to leave it.
    """
    status: dict[str, Any] = {}
    if not _says(pod, "PodScheduled", "False", reason, message):
        status["conditions"] = [_entry(pod, "PodScheduled", "False", reason, message, now)]
    if promise is not None:
        status["nominatedNodeName"] = promise or None
    return _patch(pod, status) if status else None


def nominated(pod: Pod, node: str) -> dict[str, Any]:
    """The status patch for a pod that is about to be bound to `node`, once something else is done (KEP-5278)."""
    return _patch(pod, {"nominatedNodeName": node})


def not_nominated(pod: Pod) -> dict[str, Any]:
    """The status patch for a pod whose promised node goes to a more important one."""
    return _patch(pod, {"nominatedNodeName": None})


def preempted(victim: Pod, scheduler: str, now: float) -> dict[str, Any] | None:
    """The status patch for a pod that makes room for a more important one; None when it says so already."""
    message = f"{scheduler}: preempting to accommodate a higher priority pod"
    if _says(victim, "DisruptionTarget", "True", "PreemptionByScheduler", message):
        return None
    return _patch(victim, {"conditions": [_entry(victim, "DisruptionTarget", "True", "PreemptionByScheduler", message, now)]})


def shortened(message: str) -> str:
    """An event's note holds 1,024 characters."""
    return message if len(message) <= EVENT_MESSAGE_LIMIT else f"{message[: EVENT_MESSAGE_LIMIT - 4]} ..."
