"""EndpointSlices.

Source: `pkg/registry/discovery/endpointslice`, `pkg/apis/discovery/validation`, `pkg/apis/discovery/v1/defaults.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, duplicate, invalid, not_supported, required, too_many
from setpoint.registry import formats
from setpoint.registry.address_warnings import ip_warnings
from setpoint.registry.fields import Errors, complain, dns_label, dns_subdomain, domain_name, immutable, one_of, qualified_name
from setpoint.registry.spec_status import fill
from setpoint.registry.strategy import Context, Object, Strategy

_TYPES = ("FQDN", "IPv4", "IPv6")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_VERSIONS = {"IPv4": 4, "IPv6": 6}
_MAX_PORTS = 20_000
_MAX_ENDPOINTS = 1000
_MAX_ADDRESSES = 100
_MAX_HINTS = 8
_MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
_CONTROLLERS = ("endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io")

Entry = Mapping[str, Any]


class EndpointSliceStrategy(Strategy):
    """The generation counts every change but those of metadata, and those of labels too."""

    has_generation: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True
    compares_metadata_on_update: ClassVar[bool] = False

    def default(self, obj: Object) -> None:
        for port in obj.get("ports") or ():
            fill(port, "name", "")
            fill(port, "protocol", "TCP")

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        _drop_topology(obj)

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        if obj.get("endpoints") != old.get("endpoints"):
            _drop_topology(obj)

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        deprecated = ["spec.addressType: FQDN endpoints are deprecated"] if obj.get("addressType") == "FQDN" else []
        return deprecated + _address_warnings(obj)

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        return _address_warnings(obj)

    def generation_changed(self, obj: Object, old: Object) -> bool:
        new, before = ({key: value for key, value in one.items() if key != "metadata"} for one in (obj, old))
        return new != before or (obj["metadata"].get("labels") or {}) != (old["metadata"].get("labels") or {})

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _address_type(obj.get("addressType", "")) + _ports(obj.get("ports") or ()) + _endpoints(obj)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        kind = obj.get("addressType", "")
        errors = _address_type(kind) + _ports(obj.get("ports") or ())
        if kind == old.get("addressType"):
            errors += _endpoints(obj)
        return errors + immutable("addressType", kind, old.get("addressType", ""))


def _address_warnings(obj: Object) -> list[str]:
    """Kubernetes' own controllers are trusted to write addresses well."""
    if (obj["metadata"].get("labels") or {}).get(_MANAGED_BY) in _CONTROLLERS:
        return []
    return [
        warning
        for i, endpoint in enumerate(obj.get("endpoints") or ())
        for j, address in enumerate(endpoint.get("addresses") or ())
        for warning in ip_warnings(f"endpoints[{i}].addresses[{j}]", address)
    ]


def _drop_topology(obj: Object) -> None:
    """The v1 API has no topology of its own."""
    for endpoint in obj.get("endpoints") or ():
        endpoint.pop("deprecatedTopology", None)


def _address_type(kind: str) -> Errors:
    if not kind:
        return [required("addressType")]
    return one_of("addressType", kind, _TYPES)


def _ports(ports: Sequence[Entry]) -> Errors:
    if len(ports) > _MAX_PORTS:
        return [too_many("ports", len(ports), _MAX_PORTS)]
    errors: Errors = []
    seen: set[str] = set()
    for i, port in enumerate(ports):
        path, name, protocol = f"ports[{i}]", port.get("name", ""), port.get("protocol")
        errors += dns_label(f"{path}.name", name) if name else []
        if name in seen:
            errors.append(duplicate(f"{path}.name", name))
        seen.add(name)
        if protocol is None:
            errors.append(required(f"{path}.protocol"))
        elif protocol not in _PROTOCOLS:
            errors.append(not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
        if port.get("appProtocol") is not None:
            errors += qualified_name(f"{path}.appProtocol", port["appProtocol"])
    return errors


def _endpoints(obj: Object) -> Errors:
    endpoints, kind = obj.get("endpoints") or (), obj.get("addressType", "")
    if len(endpoints) > _MAX_ENDPOINTS:
        return [too_many("endpoints", len(endpoints), _MAX_ENDPOINTS)]
    return [error for i, endpoint in enumerate(endpoints) for error in _endpoint(f"endpoints[{i}]", endpoint, kind)]


def _endpoint(path: str, endpoint: Entry, kind: str) -> Errors:
    addresses = endpoint.get("addresses") or ()
    errors: Errors = []
    if not addresses:
        errors.append(required(f"{path}.addresses", "must contain at least 1 address"))
    elif len(addresses) > _MAX_ADDRESSES:
        errors.append(too_many(f"{path}.addresses", len(addresses), _MAX_ADDRESSES))
    for i, address in enumerate(addresses):
        errors += _address(f"{path}.addresses", i, address, kind)
    if endpoint.get("nodeName") is not None:
        errors += dns_subdomain(f"{path}.nodeName", endpoint["nodeName"])
    if endpoint.get("hostname") is not None:
        errors += dns_label(f"{path}.hostname", endpoint["hostname"])
    return errors + _hints(f"{path}.hints", endpoint.get("hints") or {})


def _address(path: str, index: int, address: str, kind: str) -> Errors:
    """One address. An address of the other family is complained about without its index, as in Kubernetes."""
    here = f"{path}[{index}]"
    if kind == "FQDN":
        return domain_name(here, address.removesuffix("."), segments=2)
    version = _VERSIONS.get(kind)
    if version is None:
        return []
    if messages := formats.canonical_ip(address):
        return complain(here, address, messages)
    parsed = formats.parse_ip(address)
    if parsed is not None and parsed.version != version:
        return [invalid(path, address, f"must be an {kind} address")]
    return complain(here, address, formats.endpoint_ip(address))


def _hints(path: str, hints: Entry) -> Errors:
    errors: Errors = []
    for field, check in (("forZones", names.label_value), ("forNodes", names.dns_subdomain)):
        entries = hints.get(field) or ()
        if len(entries) > _MAX_HINTS:
            errors.append(too_many(f"{path}.{field}", len(entries), _MAX_HINTS))
            continue
        seen: set[str] = set()
        for i, entry in enumerate(entries):
            name, here = entry.get("name", ""), f"{path}.{field}[{i}].name"
            if name in seen:
                errors.append(duplicate(here, name))
            seen.add(name)
            errors += complain(here, name, check(name))
    return errors
