"""Pods on nodes that are not ready. Pure."""

from __future__ import annotations

from typing import Any

from setpoint.api.types.core_v1 import Pod
from setpoint.kit.clock import rfc3339


def by_node(pod: Pod) -> tuple[str, ...]:
    """Index function: the node that a pod is bound to."""
    return (pod.spec.node_name,) if pod.spec.node_name else ()


def not_ready_patch(pod: Pod, now: float) -> dict[str, Any] | None:
    """The strategic patch of `/status` that turns condition Ready False; None if it is not True."""
    if not any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions):
        return None
    ready = {
        "type": "Ready",
        "status": "False",
        "lastTransitionTime": rfc3339(now),
        "observedGeneration": pod.metadata.generation,
    }
    return {"metadata": {"uid": pod.metadata.uid}, "status": {"conditions": [ready]}}
