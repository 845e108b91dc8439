"""Endpoints: the addresses behind a Service, in the old form.

Source: `pkg/apis/core/validation/validation.go` (ValidateEndpoints).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, required
from setpoint.registry import formats
from setpoint.registry.address_warnings import ip_warnings
from setpoint.registry.fields import Errors, complain, dns_label, dns_subdomain, qualified_name
from setpoint.registry.pod.validation.ports import validate_protocol
from setpoint.registry.strategy import Context, Object, Strategy

_ADDRESSES = ("addresses", "notReadyAddresses")
_MANAGED_BY = "endpoints.kubernetes.io/managed-by"


class EndpointsStrategy(Strategy):
    """Subsets are kept in the order given."""

    allow_create_on_update: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        for subset in obj.get("subsets") or ():
            for port in subset.get("ports") or ():
                port["protocol"] = port.get("protocol") or "TCP"

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        errors: Errors = []
        for i, subset in enumerate(obj.get("subsets") or ()):
            errors += _subset(f"subsets[{i}]", subset)
        return errors

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        """About addresses, unless they are the controller's, which writes them as they should be."""
        if (obj["metadata"].get("labels") or {}).get(_MANAGED_BY) == "endpoint-controller":
            return []
        return [
            warning
            for i, subset in enumerate(obj.get("subsets") or ())
            for field in _ADDRESSES
            for j, address in enumerate(subset.get(field) or ())
            for warning in ip_warnings(f"subsets[{i}].{field}[{j}].ip", address.get("ip", ""))
        ]

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        return self.warnings_on_create(context, obj)


def _subset(path: str, subset: Mapping[str, Any]) -> Errors:
    errors: Errors = []
    if not subset.get("addresses") and not subset.get("notReadyAddresses"):
        errors.append(required(path, "must specify `addresses` or `notReadyAddresses`"))
    for field in _ADDRESSES:
        for i, address in enumerate(subset.get(field) or ()):
            errors += _address(f"{path}.{field}[{i}]", address)
    ports = subset.get("ports") or ()
    for i, port in enumerate(ports):
        errors += _port(f"{path}.ports[{i}]", port, named=len(ports) > 1)
    return errors


def _address(path: str, address: Mapping[str, Any]) -> Errors:
    value = address.get("ip", "")
    errors = complain(f"{path}.ip", value, formats.ip(value))
    if address.get("hostname"):
        errors += dns_label(f"{path}.hostname", address["hostname"])
    if address.get("nodeName") is not None:
        errors += dns_subdomain(f"{path}.nodeName", address["nodeName"])
    return errors + complain(f"{path}.ip", value, formats.endpoint_ip(value))


def _port(path: str, port: Mapping[str, Any], *, named: bool) -> Errors:
    name, number = port.get("name", ""), port.get("port", 0)
    errors: Errors = [required(f"{path}.name")] if named and not name else []
    errors += dns_label(f"{path}.name", name) if name else []
    errors += complain(f"{path}.port", number, names.port_number(number))
    errors += validate_protocol(f"{path}.protocol", port.get("protocol", ""))
    if port.get("appProtocol") is not None:
        errors += qualified_name(f"{path}.appProtocol", port["appProtocol"])
    return errors
