"""Container ports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import duplicate, invalid, not_supported, required
from setpoint.registry.fields import Errors, complain

PROTOCOLS = ("SCTP", "TCP", "UDP")


def validate_ports(path: str, ports: Sequence[Mapping[str, Any]]) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for i, port in enumerate(ports):
        here = f"{path}[{i}]"
        errors += _name(f"{here}.name", port.get("name", ""), seen)
        number = port.get("containerPort", 0)
        if number == 0:
            errors.append(required(f"{here}.containerPort"))
        else:
            errors += complain(f"{here}.containerPort", number, names.port_number(number))
        host = port.get("hostPort", 0)
        if host:
            errors += complain(f"{here}.hostPort", host, names.port_number(host))
        errors += validate_protocol(f"{here}.protocol", port.get("protocol", ""))
    return errors


def _name(path: str, name: str, seen: set[str]) -> Errors:
    if not name:
        return []
    messages = names.port_name(name)
    if messages:
        return complain(path, name, messages)
    if name in seen:
        return [duplicate(path, name)]
    seen.add(name)
    return []


def validate_protocol(path: str, protocol: str) -> Errors:
    if not protocol:
        return [required(path)]
    return [] if protocol in PROTOCOLS else [not_supported(path, protocol, PROTOCOLS)]


def host_port_conflicts(path: str, containers: Iterable[Mapping[str, Any]]) -> Errors:
    """Two containers of one pod cannot hold the same port of the host."""
    errors: Errors = []
    held: set[str] = set()
    for i, container in enumerate(containers):
        for j, port in enumerate(container.get("ports") or ()):
            if not port.get("hostPort"):
                continue
            key = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if key in held:
                errors.append(duplicate(f"{path}[{i}].ports[{j}].hostPort", key))
            held.add(key)
    return errors


def host_network_ports(path: str, spec: Mapping[str, Any], *, is_pod: bool) -> Errors:
    """With the host's network a container's port is the host's; templates may leave it to be defaulted in the pod."""
    if not spec.get("hostNetwork"):
        return []
    return [
        invalid(f"{path}.containers[{i}].ports[{j}].hostPort", host, "must match `containerPort` when `hostNetwork` is true")
        for i, container in enumerate(spec.get("containers") or ())
        for j, port in enumerate(container.get("ports") or ())
        if ((host := port.get("hostPort", 0)) or is_pod) and host != port.get("containerPort", 0)
    ]
