"""Hints of Services with `service.kubernetes.io/topology-mode: Auto`: each zone has endpoints for its share of the CPU. Pure.

As `k8s.io/endpointslice/topologycache`. It needs ready nodes in two zones or more, all of which tell zone and CPU, and as many
ready endpoints as zones; else there are no hints, and the Service is told why. `trafficDistribution` is the newer way.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from setpoint.api.machinery import quantity
from setpoint.api.types import core_v1

ZONE = "topology.kubernetes.io/zone"
_MODES = ("service.kubernetes.io/topology-mode", "service.kubernetes.io/topology-aware-hints")
_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_OVERLOAD = 0.2
"""By how much more than its share a zone's endpoints may have to do."""
_NO_NODE_INFO = "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes"
_TOO_FEW = "Insufficient number of endpoints ({}), impossible to safely allocate proportionally"
_OVERLOADED = (
    "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ({} endpoints, {} zones)"
)
_NO_ZONE = "One or more endpoints do not have a zone specified"

Shares = Mapping[str, float]


class Impossible(Exception):
    """There are no hints; the message is Kubernetes'."""


class Allocation(Struct, frozen=True):
    """How many endpoints a zone needs at least, and should have."""

    minimum: int
    desired: float


def is_asked(service: core_v1.Service) -> bool:
    found = service.metadata.annotations
    mode = next((found[name] for name in _MODES if name in found), "")
    return mode in {"Auto", "auto"}


def counted(node: core_v1.Node) -> tuple[object, ...]:
    """What of a node counts here."""
    return node.metadata.labels.get(ZONE), node.status.allocatable.get("cpu"), _is_ready(node)


def shares(nodes: Iterable[core_v1.Node]) -> dict[str, float]:
    """Each zone's share of the CPU of ready nodes; empty where one does not tell, or there is but one zone."""
    by_zone: Counter[str] = Counter()
    for node in nodes:
        if any(name in node.metadata.labels for name in _CONTROL_PLANE) or not _is_ready(node):
            continue
        cpu = quantity.parse(node.status.allocatable.get("cpu", "0")).milli_value()
        zone = node.metadata.labels.get(ZONE)
        if zone is None or not cpu:
            return {}
        by_zone[zone] += cpu
    total = sum(by_zone.values())
    return {zone: cpu / total for zone, cpu in by_zone.items()} if len(by_zone) > 1 else {}


def _is_ready(node: core_v1.Node) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in node.status.conditions)


def allocations(of: Shares, count: int) -> dict[str, Allocation]:
    """Of `count` ready endpoints. Raises Impossible."""
    if not of:
        raise Impossible(_NO_NODE_INFO)
    if len(of) > count:
        raise Impossible(_TOO_FEW.format(count))
    found: dict[str, Allocation] = {}
    for zone, share in of.items():
        desired = share * count
        minimum = math.ceil(desired / (1 + _OVERLOAD))
        found[zone] = Allocation(minimum, max(desired, float(minimum)))
    if sum(each.minimum for each in found.values()) > count:
        raise Impossible(_OVERLOADED.format(count, len(of)))
    return found


def hints(of: Shares, zones: Sequence[str | None]) -> list[str]:
    """For which zone each ready endpoint is meant, given its own zone. Raises Impossible."""
    wanted = allocations(of, len(zones))
    meant = [zone for zone in zones if zone]
    if len(meant) < len(zones):
        raise Impossible(_NO_ZONE)
    held = Counter(meant)
    while (move := _move(wanted, held)) is not None:
        giving, receiving = move
        meant[len(meant) - 1 - meant[::-1].index(giving)] = receiving
        held[giving] -= 1
        held[receiving] += 1
    return meant


def _move(wanted: Mapping[str, Allocation], held: Mapping[str, int]) -> tuple[str, str] | None:
    """From the zone with the most to spare to the one that lacks the most, while one lacks its minimum or a whole endpoint."""
    spare = {zone: held[zone] - (wanted[zone].desired if zone in wanted else 0.0) for zone in held}
    lack = {zone: each.desired - held.get(zone, 0) for zone, each in wanted.items()}
    giving = max(sorted(spare), key=lambda zone: spare[zone])
    receiving = max(sorted(lack), key=lambda zone: lack[zone])
    needy = held.get(receiving, 0) < wanted[receiving].minimum or (spare[giving] >= 1 and lack[receiving] >= 1)
    return (giving, receiving) if needy and spare[giving] > 0 and giving != receiving else None
