"""The slices that mirror an Endpoints object. Pure and synchronous. As `pkg/controller/endpointslicemirroring`."""

from __future__ import annotations

import ipaddress
from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct

from setpoint.api.types import core_v1, discovery_v1
from setpoint.controllers.endpoint_slice import selection
from setpoint.controllers.endpoint_slice.hashing import slice_port_hash
from setpoint.controllers.endpoint_slice.own_slices import MANAGED_BY, SERVICE_NAME
from setpoint.controllers.endpoint_slice.packing import Draft, Ports, Slice, pack

OURS = "endpointslicemirroring-controller.k8s.io"
SKIP = "endpointslice.kubernetes.io/skip-mirror"
LEADER = "control-plane.alpha.kubernetes.io/leader"
MOST = 1000
_UNCOPIED = {"kubectl.kubernetes.io/last-applied-configuration"}


class Observed(Struct, frozen=True):
    """`endpoints` None: there is nothing to mirror, and what was mirrored before is to go.

    `behind`: slices that were just made are not among `slices` yet.
    """

    endpoints: core_v1.Endpoints | None
    slices: Sequence[Slice]
    behind: bool = False


class Plan(Struct, frozen=True):
    """What is to be written, with the metadata that every slice has."""

    endpoints: core_v1.Endpoints | None
    labels: dict[str, str]
    annotations: dict[str, str]
    write: tuple[Draft, ...]
    delete: tuple[Slice, ...]
    behind: bool = False


def is_mirrored(endpoints: core_v1.Endpoints) -> bool:
    """Not those that say so, and not those that serve as a lock."""
    meta = endpoints.metadata
    return meta.labels.get(SKIP) != "true" and LEADER not in meta.annotations


def diff(observed: Observed) -> Plan | None:
    """The slices that are not as they should be; None if all are."""
    endpoints = observed.endpoints
    if observed.behind:
        return Plan(endpoints, {}, {}, (), (), behind=True)
    if endpoints is None:
        return Plan(None, {}, {}, (), tuple(observed.slices)) if observed.slices else None
    labels, annotations = labels_of(endpoints), annotations_of(endpoints)
    outdated = frozenset(
        each.metadata.name
        for each in observed.slices
        if (dict(each.metadata.labels), dict(each.metadata.annotations)) != (labels, annotations)
    )
    desired = _desired(endpoints)
    write: list[Draft] = []
    delete: list[Slice] = []
    for kind in ("IPv4", "IPv6"):
        existing = sorted((each for each in observed.slices if each.address_type == kind), key=lambda each: each.metadata.name)
        packed = pack(kind, desired[kind], existing, outdated, MOST)
        write += packed.write
        delete += packed.delete
    return Plan(endpoints, labels, annotations, tuple(write), tuple(delete)) if write or delete else None


def labels_of(endpoints: core_v1.Endpoints) -> dict[str, str]:
    reserved = {SERVICE_NAME: endpoints.metadata.name, MANAGED_BY: OURS}
    return {**endpoints.metadata.labels, **reserved}


def annotations_of(endpoints: core_v1.Endpoints) -> dict[str, str]:
    dropped = {*_UNCOPIED, selection.TRIGGER}
    return {key: value for key, value in endpoints.metadata.annotations.items() if key not in dropped}


def _desired(endpoints: core_v1.Endpoints) -> dict[str, dict[Ports, list[discovery_v1.Endpoint]]]:
    """By address type and ports; at most a thousand of each subset, ready ones first."""
    found: dict[str, dict[Ports, list[discovery_v1.Endpoint]]] = defaultdict(lambda: defaultdict(list))
    for subset in endpoints.subsets:
        ports = tuple(sorted(map(_port, subset.ports), key=slice_port_hash))
        listed = [(each, True) for each in subset.addresses] + [(each, False) for each in subset.not_ready_addresses]
        for address, ready in listed[:MOST]:
            if (kind := _address_type(address.ip)) is not None:
                found[kind][ports].append(_endpoint(address, ready=ready))
    return found


def _address_type(ip: str) -> str | None:
    try:
        return f"IPv{ipaddress.ip_address(ip).version}"
    except ValueError:
        return None


def _port(port: core_v1.EndpointPort) -> discovery_v1.EndpointPort:
    return discovery_v1.EndpointPort(
        name=port.name, port=port.port, protocol=port.protocol or "TCP", app_protocol=port.app_protocol
    )


def _endpoint(address: core_v1.EndpointAddress, *, ready: bool) -> discovery_v1.Endpoint:
    return discovery_v1.Endpoint(
        addresses=(str(ipaddress.ip_address(address.ip)),),
        conditions=discovery_v1.EndpointConditions(ready=ready),
        hostname=address.hostname or None,
        node_name=address.node_name,
        target_ref=address.target_ref,
    )
