"""A pod's quality of service class, which follows from its requests and limits.

Source: `pkg/apis/core/v1/helper/qos`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.registry.pod.aggregate import Amounts, amounts

_COUNTED = ("cpu", "memory")


def qos_class(spec: Mapping[str, Any]) -> str:
    """`Guaranteed`, `Burstable` or `BestEffort`."""
    if spec.get("resources"):
        holders = [spec["resources"]]
    else:
        containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        holders = [container.get("resources") or {} for container in containers]
    requests: Amounts = {}
    limits: Amounts = {}
    guaranteed = True
    for resources in holders:
        own_requests, own_limits = _positive(resources, "requests"), _positive(resources, "limits")
        _sum(requests, own_requests)
        _sum(limits, own_limits)
        guaranteed = guaranteed and len(own_limits) == len(_COUNTED)
    if not requests and not limits:
        return "BestEffort"
    if guaranteed and requests == limits:
        return "Guaranteed"
    return "Burstable"


def _positive(resources: Mapping[str, Any], side: str) -> Amounts:
    return {name: value for name, value in amounts(resources, side).items() if name in _COUNTED and value.nanos > 0}


def _sum(total: Amounts, more: Amounts) -> None:
    for name, value in more.items():
        total[name] = total[name] + value if name in total else value
