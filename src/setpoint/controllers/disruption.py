"""How controllers end a pod against its will: the condition DisruptionTarget says who did it and why, then the pod is deleted."""

from __future__ import annotations

from typing import Any

from setpoint.api.types.core_v1 import Pod
from setpoint.kit.clock import rfc3339

DISRUPTION_TARGET = "DisruptionTarget"


def condition(pod: Pod, reason: str, message: str, now: float) -> dict[str, Any] | None:
    """The condition to patch into `status.conditions` (merged by type); None if it is there already."""
    for each in pod.status.conditions:
        if each.type == DISRUPTION_TARGET and (each.status, each.reason, each.message) == ("True", reason, message):
            return None
    return {
        "type": DISRUPTION_TARGET,
        "status": "True",
        "reason": reason,
        "message": message,
        "lastTransitionTime": rfc3339(now),
        "observedGeneration": pod.metadata.generation,
    }
