"""Warnings about container ports of a pod that repeat or cover each other.

Source: `pkg/api/pod/warnings.go`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from setpoint.registry.pod.validation.windows import all_containers

Port = Mapping[str, Any]


def port_warnings(path: str, spec: Mapping[str, Any]) -> list[str]:
    """Over all containers of the pod, for they share one address."""
    out: list[str] = []
    known: dict[tuple[Any, ...], list[tuple[str, Port]]] = {}
    for here, container in all_containers(path, spec):
        for i, port in enumerate(container.get("ports") or ()):
            where = f"{here}.ports[{i}]"
            if port.get("hostIP") and not port.get("hostPort"):
                out.append(f"{where}: hostIP set without hostPort: {_printed(port)}")
            others = known.setdefault((port.get("containerPort", 0), port.get("protocol", "")), [])
            out += [
                f"{where}: {problem} port definition with {other}"
                for other, before in others
                if (problem := _clash(port, before))
            ]
            others.append((where, port))
    return out + _names(path, spec)


def _names(path: str, spec: Mapping[str, Any]) -> list[str]:
    """Of all containers that last: init containers only if they are sidecars."""
    out: list[str] = []
    named: dict[str, str] = {}
    for here, container in all_containers(path, spec):
        if ".initContainers[" in here and container.get("restartPolicy") != "Always":
            continue
        for i, port in enumerate(container.get("ports") or ()):
            if port.get("name"):
                out += _name(f"{here}.ports[{i}]", port["name"], named)
    return out


def _clash(port: Port, other: Port) -> str:
    host, other_host = port.get("hostPort", 0), other.get("hostPort", 0)
    address, other_address = port.get("hostIP", ""), other.get("hostIP", "")
    if (host, address) == (other_host, other_address):
        return "duplicate"
    if not host or not other_host:
        return "overlapping"
    if host == other_host and bool(address) != bool(other_address):
        return "dangerously ambiguous"
    return ""


def _name(where: str, name: str, named: dict[str, str]) -> list[str]:
    first = named.setdefault(name, where)
    if first == where:
        return []
    chosen = f"services and probes that select ports by name will use {first}"
    return [f"{where}: duplicate port name {json.dumps(name)} with {first}, {chosen}"]


def _printed(port: Port) -> str:
    """As Go prints a struct."""
    fields = ("Name", "name", ""), ("HostPort", "hostPort", 0), ("ContainerPort", "containerPort", 0)
    rest = ("Protocol", "protocol", ""), ("HostIP", "hostIP", "")
    return "{" + " ".join(f"{go}:{port.get(wire, zero)}" for go, wire, zero in (*fields, *rest)) + "}"
