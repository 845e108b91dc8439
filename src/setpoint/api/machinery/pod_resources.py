"""What a pod's containers request together, and the quality of service that follows from it.

Init containers run one after the other, so their largest request counts; restartable ones (sidecars) stay and add to the rest.
Source: component-helpers `resource/helpers.go`, KEP-753; `pkg/apis/core/v1/helper/qos`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery import quantity
from setpoint.api.machinery.quantity import Quantity

Amounts = dict[str, Quantity]


def amounts(resources: Mapping[str, Any] | None, side: str) -> Amounts:
    """The `requests` or `limits` of one container."""
    values = (resources or {}).get(side) or {}
    return {name: quantity.parse(str(value)) for name, value in values.items()}


def aggregate_requests(spec: Mapping[str, Any]) -> Amounts:
    return _aggregate(spec, "requests")


def aggregate_limits(spec: Mapping[str, Any]) -> Amounts:
    return _aggregate(spec, "limits")


def has_pod_level(spec: Mapping[str, Any]) -> bool:
    """Whether the pod as a whole says what it needs."""
    resources = spec.get("resources")
    return any(_is_pod_level(name) for side in ("requests", "limits") for name in amounts(resources, side))


def pod_level(spec: Mapping[str, Any], side: str) -> Amounts:
    """What the pod says for itself, which counts in the place of what its containers say."""
    return {name: value for name, value in amounts(spec.get("resources"), side).items() if _is_pod_level(name)}


def _is_pod_level(name: str) -> bool:
    return name in _COUNTED or name.startswith("hugepages-")


def _aggregate(spec: Mapping[str, Any], side: str) -> Amounts:
    total: Amounts = {}
    for container in spec.get("containers") or ():
        _add(total, amounts(container.get("resources"), side))
    sidecars: Amounts = {}
    largest: Amounts = {}
    for container in spec.get("initContainers") or ():
        own = amounts(container.get("resources"), side)
        if container.get("restartPolicy") == "Always":
            _add(total, own)
            _add(sidecars, own)
            own = dict(sidecars)
        else:
            _add(own, sidecars)
        _raise(largest, own)
    _raise(total, largest)
    return total


def _add(total: Amounts, more: Amounts) -> None:
    for name, value in more.items():
        total[name] = total[name] + value if name in total else value


def _raise(total: Amounts, other: Amounts) -> None:
    for name, value in other.items():
        if name not in total or value > total[name]:
            total[name] = value


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
