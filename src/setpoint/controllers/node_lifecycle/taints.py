"""Which taints a node's conditions mean, and how a list of taints changes. Pure.

Kubernetes' tables: `nodeConditionToTaintKeyStatusMap` and the NoExecute pair of the node life cycle controller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from setpoint.api.types.core_v1 import Node, Taint
from setpoint.kit.clock import rfc3339

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"

NO_SCHEDULE = "NoSchedule"
NO_EXECUTE = "NoExecute"

OF_CONDITIONS: Mapping[str, Mapping[str, str]] = {
    "Ready": {"False": NOT_READY, "Unknown": UNREACHABLE},
    "MemoryPressure": {"True": "node.kubernetes.io/memory-pressure"},
    "DiskPressure": {"True": "node.kubernetes.io/disk-pressure"},
    "NetworkUnavailable": {"True": "node.kubernetes.io/network-unavailable"},
    "PIDPressure": {"True": "node.kubernetes.io/pid-pressure"},
}
_MANAGED = {key for keys in OF_CONDITIONS.values() for key in keys.values()} | {UNSCHEDULABLE}


def no_schedule(node: Node) -> list[str]:
    """The keys of the NoSchedule taints that the node should have, in the order of its conditions."""
    keys = [OF_CONDITIONS.get(each.type, {}).get(each.status) for each in node.status.conditions]
    wanted = [key for key in keys if key]
    return [*wanted, UNSCHEDULABLE] if node.spec.unschedulable else wanted


def with_no_schedule(node: Node, now: float) -> list[dict[str, Any]] | None:
    """The node's taints with those of its conditions put right; None if they are."""
    wanted = set(no_schedule(node))
    present = {taint.key for taint in node.spec.taints if taint.effect == NO_SCHEDULE and taint.key in _MANAGED}
    add = [(key, NO_SCHEDULE) for key in no_schedule(node) if key not in present]
    return changed(node.spec.taints, add, [(key, NO_SCHEDULE) for key in present - wanted], now)


def with_no_execute(node: Node, key: str, now: float) -> list[dict[str, Any]] | None:
    """The node's taints with `key` as the only NoExecute taint of the two ("" for neither); None if that is so."""
    add = [(key, NO_EXECUTE)] if key and not has(node, key) else []
    drop = [(other, NO_EXECUTE) for other in (NOT_READY, UNREACHABLE) if other != key and has(node, other)]
    return changed(node.spec.taints, add, drop, now)


def has(node: Node, key: str, effect: str = NO_EXECUTE) -> bool:
    return any(taint.key == key and taint.effect == effect for taint in node.spec.taints)


def changed(
    taints: Sequence[Taint], add: Sequence[tuple[str, str]], drop: Iterable[tuple[str, str]], now: float
) -> list[dict[str, Any]] | None:
    """`taints` as JSON without `drop` and with `add` behind; None when nothing changes."""
    gone = set(drop)
    kept = [msgspec.to_builtins(taint) for taint in taints if (taint.key, taint.effect) not in gone]
    if not add and len(kept) == len(taints):
        return None
    return [*kept, *({"key": key, "effect": effect, "timeAdded": rfc3339(now)} for key, effect in add)]


def patch(node: Node, taints: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Valid only for the version that was observed: the list is replaced as a whole."""
    return {"metadata": {"resourceVersion": node.metadata.resource_version}, "spec": {"taints": [*taints] or None}}
