"""How controllers end a pod against its will: the condition DisruptionTarget says who did it and why, then the pod is deleted."""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import PODS, Pod
from setpoint.client.client import ClientProtocol
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


async def evict(client: ClientProtocol, pod: Pod, reason: str, message: str, now: float) -> None:
    """Say why, then delete the pod; one that is gone by itself is as good. Raises StatusError, TransportError."""
    meta, told = pod.metadata, condition(pod, reason, message, now)
    try:
        if told is not None:
            patch = {"metadata": {"uid": meta.uid}, "status": {"conditions": [told]}}
            await client.patch(PODS, meta.name, patch, meta.namespace, kind="strategic", subresource="status")
        await client.delete(PODS, meta.name, meta.namespace, uid=meta.uid)
    except StatusError as error:
        if error.code != 404:
            raise
