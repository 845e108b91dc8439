"""The slices of a Service. Pure and synchronous. As `k8s.io/endpointslice`'s reconciler."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from setpoint.api.types import core_v1, discovery_v1
from setpoint.controllers.endpoint_slice import selection, topology
from setpoint.controllers.endpoint_slice.hashing import slice_port_hash
from setpoint.controllers.endpoint_slice.own_slices import MANAGED_BY, SERVICE_NAME
from setpoint.controllers.endpoint_slice.packing import Draft, Packed, Ports, Slice, pack, with_placeholder
from setpoint.controllers.owned_pods.state import is_ready

OURS = "endpointslice-controller.k8s.io"
ZONE = topology.ZONE
_NEAR = {"PreferClose", "PreferSameZone", "PreferSameNode"}
_RESERVED = {SERVICE_NAME, MANAGED_BY, selection.HEADLESS}


class Observed(Struct, frozen=True):
    """`pods` are those that the selector matches; `zones` by node; `trigger` since when the slices are out of date;
    `behind`: slices that were just made are not among them yet; `shares` are the zones' where hints by CPU are asked for.
    """

    service: core_v1.Service
    pods: Sequence[core_v1.Pod]
    slices: Sequence[Slice]
    zones: Mapping[str, str]
    trigger: float | None
    behind: bool = False
    shares: topology.Shares | None = None


class Plan(Struct, frozen=True):
    """What is to be written for one Service, with the labels that its slices have.

    `lost` are pods that are left out for want of their node, with its name; `hints` is the event on hints by CPU.
    """

    service: core_v1.Service
    labels: Mapping[str, str]
    trigger: float | None
    write: tuple[Draft, ...]
    delete: tuple[Slice, ...]
    behind: bool = False
    lost: tuple[tuple[str, str], ...] = ()
    hints: tuple[str, str, str] | None = None


def diff(observed: Observed) -> Plan | None:
    """The slices that are not as they should be; None if all are."""
    service = observed.service
    if observed.behind:
        return Plan(service, {}, None, (), (), behind=True)
    labels = labels_of(service)
    outdated = frozenset(each.metadata.name for each in observed.slices if dict(each.metadata.labels) != labels)
    kinds = address_types(service)
    delete = [each for each in observed.slices if each.address_type not in kinds]
    write: list[Draft] = []
    hints: tuple[str, str, str] | None = None
    for kind in kinds:
        existing = sorted((each for each in observed.slices if each.address_type == kind), key=lambda each: each.metadata.name)
        desired = _desired(observed, kind)
        if observed.shares is not None:
            try:
                desired = _hinted(desired, observed.shares)
                hints = ("Normal", "TopologyAwareHintsEnabled", f"Topology Aware Hints has been enabled, addressType: {kind}")
            except topology.Impossible as why:
                hints = ("Warning", "TopologyAwareHintsDisabled", f"{why}, addressType: {kind}")
        packed: Packed = pack(kind, desired, existing, outdated)
        packed = with_placeholder(packed, kind, outdated=outdated)
        write += packed.write
        delete += packed.delete
    lost = tuple(_lost(observed))
    plan = Plan(service, labels, observed.trigger, tuple(write), tuple(delete), lost=lost, hints=hints)
    return plan if write or delete or lost or hints else None


def _hinted(
    desired: Mapping[Ports, Sequence[discovery_v1.Endpoint]], shares: topology.Shares
) -> dict[Ports, list[discovery_v1.Endpoint]]:
    """With hints by CPU on what is ready. Raises topology.Impossible."""
    ready = [each for endpoints in desired.values() for each in endpoints if each.conditions.ready]
    meant = iter(topology.hints(shares, [each.zone for each in ready]))
    return {
        ports: [_meant_for(each, next(meant)) if each.conditions.ready else each for each in endpoints]
        for ports, endpoints in desired.items()
    }


def _meant_for(endpoint: discovery_v1.Endpoint, zone: str) -> discovery_v1.Endpoint:
    return replace(endpoint, hints=discovery_v1.EndpointHints(for_zones=(discovery_v1.ForZone(name=zone),)))


def _lost(observed: Observed) -> Iterator[tuple[str, str]]:
    """A pod whose node is gone or not known yet is looked at again when that comes; who publishes all wants it at once."""
    if not observed.service.spec.publish_not_ready_addresses:
        for pod in observed.pods:
            if pod.spec.node_name not in observed.zones and selection.is_reachable(pod, terminating=True):
                yield pod.metadata.name, pod.spec.node_name


def labels_of(service: core_v1.Service) -> dict[str, str]:
    """The Service's own, and what tells whose the slice is."""
    labels = {key: value for key, value in service.metadata.labels.items() if key not in _RESERVED}
    if selection.is_headless(service):
        labels[selection.HEADLESS] = ""
    return {**labels, SERVICE_NAME: service.metadata.name, MANAGED_BY: OURS}


def address_types(service: core_v1.Service) -> list[str]:
    return [family for family in service.spec.ip_families if family in {"IPv4", "IPv6"}] or ["IPv4"]


def _desired(observed: Observed, kind: str) -> dict[Ports, list[discovery_v1.Endpoint]]:
    """The endpoints of one address type, by the ports that they have in common."""
    service = observed.service
    found: dict[Ports, list[discovery_v1.Endpoint]] = defaultdict(list)
    lost = {name for name, _ in _lost(observed)}
    for pod in sorted(observed.pods, key=lambda pod: pod.metadata.name):
        if pod.metadata.name in lost or not selection.is_reachable(pod, terminating=True):
            continue
        endpoint = _endpoint(observed, pod, kind)
        if endpoint.addresses:
            found[_ports(service, pod)].append(endpoint)
    return found


def _ports(service: core_v1.Service, pod: core_v1.Pod) -> Ports:
    numbers = ((port, selection.target_port(pod, port)) for port in service.spec.ports)
    ports = (
        discovery_v1.EndpointPort(name=port.name, port=number, protocol=port.protocol or "TCP", app_protocol=port.app_protocol)
        for port, number in numbers
        if number is not None
    )
    return tuple(sorted(ports, key=slice_port_hash))


def _endpoint(observed: Observed, pod: core_v1.Pod, kind: str) -> discovery_v1.Endpoint:
    service = observed.service
    serving, terminating = is_ready(pod), bool(pod.metadata.deletion_timestamp)
    ready = service.spec.publish_not_ready_addresses or (serving and not terminating)
    node, zone = pod.spec.node_name or None, observed.zones.get(pod.spec.node_name) or None
    return discovery_v1.Endpoint(
        addresses=tuple(selection.addresses(pod, ipv6=kind == "IPv6")),
        conditions=discovery_v1.EndpointConditions(ready=ready, serving=serving, terminating=terminating),
        hints=_hints(service.spec.traffic_distribution, node, zone) if ready and observed.shares is None else None,
        hostname=selection.hostname(service, pod) or None,
        node_name=node,
        target_ref=selection.reference(pod),
        zone=zone,
    )


def _hints(distribution: str | None, node: str | None, zone: str | None) -> discovery_v1.EndpointHints | None:
    """For whom a ready endpoint is meant first, as `trafficDistribution` says (`k8s.io/endpointslice/trafficdist`)."""
    if distribution not in _NEAR:
        return None
    zones = (discovery_v1.ForZone(name=zone),) if zone is not None else ()
    nodes = (discovery_v1.ForNode(name=node),) if distribution == "PreferSameNode" and node is not None else ()
    return discovery_v1.EndpointHints(for_zones=zones, for_nodes=nodes) if zones or nodes else None
