"""The conditions of a node that is no longer heard of. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

from setpoint.api.types.core_v1 import Node
from setpoint.controllers.node_lifecycle.health import condition
from setpoint.kit.clock import rfc3339

KINDS = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")


def conditions(node: Node, now: float) -> list[dict[str, Any]] | None:
    """All conditions of the node with those that its agent reports turned Unknown; None if they are."""
    written: list[dict[str, Any]] = [msgspec.to_builtins(each) for each in node.status.conditions]
    by_kind = {each["type"]: each for each in written}
    altered = False
    for kind in KINDS:
        known = condition(node, kind)
        if known is None:
            written.append(_never(kind, node.metadata.creation_timestamp, now))
        elif known.status != "Unknown":
            by_kind[kind] |= {
                "status": "Unknown",
                "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.",
                "lastTransitionTime": rfc3339(now),
            }
        else:
            continue
        altered = True
    return written if altered else None


def _never(kind: str, created: str, now: float) -> dict[str, Any]:
    return {
        "type": kind,
        "status": "Unknown",
        "reason": "NodeStatusNeverUpdated",
        "message": "Kubelet never posted node status.",
        "lastHeartbeatTime": created or rfc3339(now),
        "lastTransitionTime": rfc3339(now),
    }
