"""Node ports of Services, the one for health checks included. A port is held by a record of its own.

Source: `pkg/registry/core/service/portallocator`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.status import StatusError, internal_error, invalid
from setpoint.registry.service import needs
from setpoint.registry.service.holding import Holding, in_any_order
from setpoint.registry.strategy import Object

PORTS = "servicenodeports"
TAKEN = "provided port is already allocated"
#: no node port that a cluster gives by default
_BEFORE_IMAGINED = 32768


class PortAllocator:
    """Allocates from `ports`: the first and the last."""

    def __init__(self, ports: tuple[int, int]) -> None:
        self._ports = ports

    async def allocate(self, holding: Holding, spec: Object, old: Mapping[str, Any]) -> None:
        """Give the Service what it needs and has not, and note what it no longer needs. `old` is its stored spec, if any."""
        await self._node_ports(holding, spec, old)
        await self._health_port(holding, spec, old)

    async def _node_ports(self, holding: Holding, spec: Object, old: Mapping[str, Any]) -> None:
        held = {port["nodePort"] for port in old.get("ports") or () if port.get("nodePort")}
        if needs.may_have_node_ports(spec):
            await (self._changed_ports(holding, spec, held) if old else self._first_ports(holding, spec))
        kept = {port.get("nodePort") for port in spec.get("ports") or ()}
        holding.released += [key_of(number) for number in held - kept]

    async def _first_ports(self, holding: Holding, spec: Object) -> None:
        """Of a new Service: ports of one number (TCP and UDP) share their node port."""
        given: dict[int, int] = {}
        ports = spec.get("ports") or ()
        requested = {port.get("port", 0): port["nodePort"] for port in reversed(ports) if port.get("nodePort")}
        for i, port in enumerate(ports):
            asked, own = port.get("nodePort") or 0, port.get("port", 0)
            if not asked and not needs.allocates_node_ports(spec):
                continue
            path = f"spec.ports[{i}].nodePort"
            if own not in given:
                given[own] = requested.get(own) or await self._next_port(holding)
                if own in requested:
                    await self._asked_port(holding, path, given[own])
            elif asked and asked != given[own]:
                await self._asked_port(holding, path, asked)
            port["nodePort"] = asked or given[own]

    async def _changed_ports(self, holding: Holding, spec: Object, held: set[int]) -> None:
        """Of a Service that is there: one node port may serve several protocols, if the user says so."""
        used: set[tuple[Any, int]] = set()
        for i, port in enumerate(spec.get("ports") or ()):
            number, protocol = port.get("nodePort") or 0, port.get("protocol")
            if not number and not needs.allocates_node_ports(spec):
                continue
            if not number:
                number = port["nodePort"] = await self._next_port(holding)
            elif number not in held and number not in {taken for _, taken in used}:
                await self._asked_port(holding, f"spec.ports[{i}].nodePort", number)
            if (protocol, number) in used:
                raise StatusError(500, "", f"duplicate nodePort: {{{protocol} {number}}}")
            used.add((protocol, number))

    async def _asked_port(self, holding: Holding, path: str, number: int) -> None:
        if problem := await self._problem_with(holding, number):
            raise holding.refused(invalid(path, number, problem))

    async def _problem_with(self, holding: Holding, number: int) -> str:
        """Takes a port of the user's choice; why it cannot be had, empty if it could. A dry run does not look at the range."""
        low, high = self._ports
        if not holding.dry_run and not low <= number <= high:
            return f"provided port is not in the valid range. The range of valid ports is {low}-{high}"
        return "" if await self._hold_port(holding, number) else TAKEN

    async def _next_port(self, holding: Holding) -> int:
        if holding.dry_run:
            return _imagined_port(holding)
        low, high = self._ports
        reserved = min(max(16, (high - low + 1) // 32), 128)
        for bounds in ((low + reserved, high), (low, low + reserved - 1)):
            for number in in_any_order(*bounds):
                if await self._hold_port(holding, number):
                    return number
        raise internal_error("failed to allocate a nodePort: range is full")

    async def _hold_port(self, holding: Holding, number: int) -> bool:
        holder = {"kind": "NodePort", "apiVersion": "v1", "metadata": {"name": str(number)}}
        return await holding.hold(key_of(number), {**holder, "parentRef": holding.parent})

    async def _health_port(self, holding: Holding, spec: Object, old: Mapping[str, Any]) -> None:
        before = old.get("healthCheckNodePort") or 0
        if not needs.health_check_port(spec):
            holding.released += [key_of(before)] if before else []
            return
        asked = spec.get("healthCheckNodePort") or 0
        if not asked:
            spec["healthCheckNodePort"] = await self._next_port(holding)
        elif not before and (problem := await self._problem_with(holding, asked)):
            raise internal_error(f"failed to allocate requested HealthCheck NodePort {asked}: {problem}")


def _imagined_port(holding: Holding) -> int:
    """A dry run looks for no free port: it shows the one after those that the request has."""
    number = max((int(key.rpartition("/")[2]) for key in holding.taken), default=_BEFORE_IMAGINED) + 1
    holding.taken.append(key_of(number))
    return number


def of_spec(spec: Mapping[str, Any]) -> set[int]:
    """The node ports that a Service has."""
    ports = {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")}
    return ports | ({spec["healthCheckNodePort"]} if spec.get("healthCheckNodePort") else set())


def key_of(number: int) -> str:
    """The store's key of a port's holder."""
    return f"{PORTS}/{number}"
