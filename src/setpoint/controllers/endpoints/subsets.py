"""The subsets of an Endpoints object. Pure. As `pkg/controller/endpoint` and `pkg/api/v1/endpoints`."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import msgspec

from setpoint.api.types import core_v1
from setpoint.controllers.endpoint_slice import selection
from setpoint.controllers.endpoint_slice.hashing import port_hash
from setpoint.controllers.owned_pods.state import is_ready

CAPACITY = 1000
Ports = tuple[core_v1.EndpointPort, ...]
Subsets = tuple[core_v1.EndpointSubset, ...]


def subsets(service: core_v1.Service, pods: Sequence[core_v1.Pod]) -> Subsets:
    """Ports that have the same addresses stand together (`RepackSubsets`): what all pods have apart from what one has."""
    publish = service.spec.publish_not_ready_addresses
    found: dict[core_v1.EndpointPort | None, list[tuple[core_v1.EndpointAddress, bool]]] = defaultdict(list)
    for pod in pods:
        if not selection.is_reachable(pod, terminating=publish):
            continue
        address = _address(service, pod)
        if address is None:
            continue
        portless = not service.spec.ports and service.spec.cluster_ip == "None"
        for port in (None,) if portless else _ports(service, pod):
            found[port].append((address, publish or is_ready(pod)))
    together: dict[frozenset[tuple[str, str, bool]], list[core_v1.EndpointPort | None]] = defaultdict(list)
    for port, addresses in found.items():
        together[frozenset((*_identity(address), ready) for address, ready in addresses)].append(port)
    made = [_subset(ports, found[ports[0]]) for ports in together.values()]
    return tuple(sorted(made, key=lambda each: [port_hash(port) for port in each.ports]))


def _identity(address: core_v1.EndpointAddress) -> tuple[str, str]:
    return address.ip, address.target_ref.uid if address.target_ref else ""


def _subset(
    ports: Sequence[core_v1.EndpointPort | None], addresses: Sequence[tuple[core_v1.EndpointAddress, bool]]
) -> core_v1.EndpointSubset:
    ordered = sorted(addresses, key=lambda pair: _identity(pair[0]))
    return core_v1.EndpointSubset(
        addresses=tuple(address for address, ready in ordered if ready),
        not_ready_addresses=tuple(address for address, ready in ordered if not ready),
        ports=tuple(sorted((port for port in ports if port is not None), key=port_hash)),
    )


def _address(service: core_v1.Service, pod: core_v1.Pod) -> core_v1.EndpointAddress | None:
    """The pod's address of the Service's first family."""
    families = service.spec.ip_families
    found = selection.addresses(pod, ipv6=bool(families) and families[0] == "IPv6")
    if not found:
        return None
    return core_v1.EndpointAddress(
        ip=found[0],
        node_name=pod.spec.node_name,
        hostname=selection.hostname(service, pod),
        target_ref=selection.reference(pod),
    )


def _ports(service: core_v1.Service, pod: core_v1.Pod) -> Ports:
    numbers = ((port, selection.target_port(pod, port)) for port in service.spec.ports)
    return tuple(
        core_v1.EndpointPort(name=port.name, port=number, protocol=port.protocol or "TCP", app_protocol=port.app_protocol)
        for port, number in numbers
        if number is not None
    )


def truncated(given: Subsets) -> Subsets:
    """At most a thousand addresses, ready ones first, each subset losing its share."""
    ready = sum(len(each.addresses) for each in given)
    unready = sum(len(each.not_ready_addresses) for each in given)
    if ready + unready <= CAPACITY:
        return given
    over = ready > CAPACITY
    room, total = (CAPACITY, ready) if over else (CAPACITY - ready, unready)
    left, found = room, []
    for each in given:
        kept = each.addresses if over else each.not_ready_addresses
        take = min(left, math.ceil(len(kept) / total * room))
        left -= take
        found.append(
            msgspec.structs.replace(each, addresses=kept[:take], not_ready_addresses=())
            if over
            else msgspec.structs.replace(each, not_ready_addresses=kept[:take])
        )
    return tuple(found)
