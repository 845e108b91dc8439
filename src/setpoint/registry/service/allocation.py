"""Cluster addresses and node ports, as objects that can be created once.

An address is held by an IPAddress object of networking.k8s.io, which users can see; a node port by a record of its own. Creating
the holder is the allocation, so two servers, or one that crashed between two steps, never give the same away twice. What is held
without need after a crash is given back at the next start (`repair`).
Source: `pkg/registry/core/service/{ipallocator,portallocator}`, KEP-1880.
"""

from __future__ import annotations

import ipaddress
import random
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

import orjson
from msgspec import Struct, field
from msgspec.structs import replace

from setpoint.api.machinery.status import FieldError, StatusError, internal_error, invalid, invalid_object
from setpoint.kit.clock import Clock, rfc3339
from setpoint.registry import formats
from setpoint.registry.resource import ServedResource
from setpoint.registry.service import needs
from setpoint.registry.service.addresses import settle_families
from setpoint.registry.service.needs import NONE
from setpoint.registry.strategy import Context, Object
from setpoint.storage.protocol import Conflict, Encoded, Exists, NotFound, Store

ADDRESSES = "ipaddresses.networking.k8s.io"
RANGES = "servicecidrs.networking.k8s.io"
PORTS = "servicenodeports"
TAKEN_ADDRESS = "provided IP is already allocated"
TAKEN_PORT = "provided port is already allocated"
_ATTEMPTS = 64
_REPAIR_SECONDS = 180.0
_MANAGED = b'"ipaddress.kubernetes.io/managed-by":"ipallocator.k8s.io"'

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network
End = Callable[..., Awaitable[None]]


class _Holding(Struct):
    """What one write has taken, and what it gives back if it succeeds."""

    service: Object
    now: float
    dry_run: bool
    taken: list[str] = field(default_factory=list)
    released: list[str] = field(default_factory=list)


class ServiceAllocator:
    """Hooks of the generic store for Services: `begin_create`, `begin_update`, `after_delete`."""

    def __init__(self, store: Store, network: str = "10.96.0.0/16", ports: tuple[int, int] = (30000, 32767)) -> None:
        self._store = store
        self._network = ipaddress.ip_network(network)
        self._ports = ports
        self._random = random.SystemRandom()

    def hook_into(self, resources: Iterable[ServedResource]) -> tuple[ServedResource, ...]:
        """The same table with these hooks in the row of Services."""
        hooks = {"begin_create": self.begin_create, "begin_update": self.begin_update, "after_delete": self.after_delete}
        return tuple(replace(row, **hooks) if row.group_resource == "services" else row for row in resources)

    async def begin_create(self, context: Context, obj: Object, old: Object | None) -> End:
        """Allocate what a new Service needs; what is returned gives it back unless the write succeeds."""
        return await self._begin(context, obj, {})

    async def begin_update(self, context: Context, obj: Object, old: Object | None) -> End:
        """Allocate what is new, and give back what is no longer needed once the write has succeeded."""
        return await self._begin(context, obj, (old or {}).get("spec") or {})

    async def after_delete(self, context: Context, obj: Object) -> None:
        """Give everything back."""
        spec = obj.get("spec") or {}
        await self._release([*map(_address_key, _addresses(spec)), *map(_port_key, _node_ports(spec))])

    async def repair(self) -> int:
        """Give back what no Service has, and tell how many that were. To be called while nobody writes."""
        lost = await self._lost()
        await self._release(list(lost))
        return len(lost)

    async def keep_repaired(self, clock: Clock) -> None:
        """The same for ever, while this and other servers write: what is given back has been lost for longer than any request
        may take.
        """
        before: dict[str, int] = {}
        while True:
            lost = await self._lost()
            for key, revision in lost.items():
                if before.get(key) == revision:
                    with suppress(NotFound, Conflict):
                        await self._store.delete(key, expect=revision)
            before = lost
            await clock.sleep(_REPAIR_SECONDS)

    async def _lost(self) -> dict[str, int]:
        """What is held and no Service has, with its revisions. What is held is read first: a Service follows what it holds."""
        held = {record.key: record.revision for record in (await self._store.list(f"{PORTS}/")).records}
        for record in (await self._store.list(f"{ADDRESSES}/")).records:
            if _MANAGED in record.value:
                held[record.key] = record.revision
        needed: set[str] = set()
        for record in (await self._store.list("services/")).records:
            spec = orjson.loads(record.value).get("spec") or {}
            needed.update(map(_address_key, _addresses(spec)), map(_port_key, _node_ports(spec)))
        return {key: revision for key, revision in held.items() if key not in needed}

    async def _begin(self, context: Context, obj: Object, old: Mapping[str, Any]) -> End:
        if errors := settle_families(obj["spec"], old or None):
            raise invalid_object("", "Service", obj["metadata"].get("name", ""), errors)
        holding = _Holding(obj, context.now, context.dry_run)
        try:
            await self._address(holding, obj["spec"], old)
            await self._node_ports(holding, obj["spec"], old)
            await self._health_port(holding, obj["spec"], old)
        except BaseException:
            await self._release(holding.taken)
            raise

        async def end(*, success: bool) -> None:
            await self._release(holding.released if success else holding.taken)

        return end

    async def _release(self, keys: list[str]) -> None:
        for key in keys:
            try:
                await self._store.delete(key)
            except NotFound:
                continue

    # --- cluster addresses ---

    async def _address(self, holding: _Holding, spec: Object, old: Mapping[str, Any]) -> None:
        before = _addresses(old)
        if not needs.cluster_ip(spec):
            holding.released += map(_address_key, before)
            return
        if needs.is_headless(spec) or before:
            return
        asked = spec.get("clusterIP", "")
        networks = await self._networks()
        if asked:
            problem = _out_of_range(asked, networks)
            if not problem and not await self._hold_address(holding, asked):
                problem = TAKEN_ADDRESS
            if problem:
                why = f"failed to allocate IP {asked}: {problem}"
                raise _refused(holding.service, invalid("spec.clusterIPs", spec.get("clusterIPs") or [asked], why))
            return
        address = await self._next_address(holding, networks)
        spec["clusterIP"], spec["clusterIPs"] = address, [address]

    async def _networks(self) -> list[_Network]:
        """The ranges to allocate from: the server's own, unless it goes, and those of other ServiceCIDRs that are ready."""
        own, found = [self._network], []
        for record in (await self._store.list(f"{RANGES}/")).records:
            cidr = orjson.loads(record.value)
            networks = [network for text in cidr["spec"]["cidrs"] if (network := formats.parse_cidr(text)) is not None]
            if "deletionTimestamp" in cidr["metadata"]:
                own = [network for network in own if network not in networks]
            elif _is_ready(cidr):
                found += [network for network in networks if network.version == self._network.version and network not in own]
        return own + found

    async def _next_address(self, holding: _Holding, networks: list[_Network]) -> str:
        """A random free address; the first part of each range is left for those that users choose."""
        for network in networks:
            size = network.num_addresses
            reserved = min(max(16, size // 16), 256) if size > 32 else 0
            for low, high in ((reserved + 1, size - 2), (1, reserved)):
                for offset in self._tries(low, high):
                    address = str(network[offset])
                    if await self._hold_address(holding, address):
                        return address
        raise internal_error("failed to allocate a serviceIP: range is full")

    def _tries(self, low: int, high: int) -> list[int]:
        if high < low:
            return []
        count = high - low + 1
        first = [self._random.randint(low, high) for _ in range(min(_ATTEMPTS, count))]
        start = self._random.randrange(count)
        return first + [low + (start + i) % count for i in range(count)]

    async def _hold_address(self, holding: _Holding, address: str) -> bool:
        metadata = holding.service["metadata"]
        holder = {
            "kind": "IPAddress",
            "apiVersion": "networking.k8s.io/v1",
            "metadata": {
                "name": address,
                "uid": str(uuid.uuid4()),
                "generation": 1,
                "creationTimestamp": rfc3339(holding.now),
                "labels": {
                    "ipaddress.kubernetes.io/ip-family": f"IPv{self._network.version}",
                    "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
                },
            },
            "spec": {"parentRef": _parent(metadata)},
        }
        return await self._hold(holding, _address_key(address), holder)

    async def _hold(self, holding: _Holding, key: str, holder: Object) -> bool:
        """Take `key`; False if someone has it."""
        if holding.dry_run:
            return await self._store.head(key) is None

        def encode(revision: int) -> Encoded:
            holder["metadata"]["resourceVersion"] = str(revision)
            return Encoded(orjson.dumps(holder))

        try:
            await self._store.create(key, encode)
        except Exists:
            return False
        holding.taken.append(key)
        return True

    # --- ports of the nodes ---

    async def _node_ports(self, holding: _Holding, spec: Object, old: Mapping[str, Any]) -> None:
        held = {port["nodePort"] for port in old.get("ports") or () if port.get("nodePort")}
        if needs.may_have_node_ports(spec):
            await (self._changed_ports(holding, spec, held) if old else self._first_ports(holding, spec))
        kept = {port.get("nodePort") for port in spec.get("ports") or ()}
        holding.released += [_port_key(number) for number in held - kept]

    async def _first_ports(self, holding: _Holding, spec: Object) -> None:
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

    async def _changed_ports(self, holding: _Holding, spec: Object, held: set[int]) -> None:
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

    async def _asked_port(self, holding: _Holding, path: str, number: int) -> None:
        if problem := await self._problem_with(holding, number):
            raise _refused(holding.service, invalid(path, number, problem))

    async def _problem_with(self, holding: _Holding, number: int) -> str:
        """Takes a port of the user's choice; why it cannot be had, empty if it could."""
        low, high = self._ports
        if not low <= number <= high:
            return f"provided port is not in the valid range. The range of valid ports is {low}-{high}"
        return "" if await self._hold_port(holding, number) else TAKEN_PORT

    async def _next_port(self, holding: _Holding) -> int:
        low, high = self._ports
        reserved = min(max(16, (high - low + 1) // 32), 128)
        for bounds in ((low + reserved, high), (low, low + reserved - 1)):
            for number in self._tries(*bounds):
                if await self._hold_port(holding, number):
                    return number
        raise internal_error("failed to allocate a nodePort: range is full")

    async def _hold_port(self, holding: _Holding, number: int) -> bool:
        holder = {"kind": "NodePort", "apiVersion": "v1", "metadata": {"name": str(number)}}
        return await self._hold(holding, _port_key(number), {**holder, "parentRef": _parent(holding.service["metadata"])})

    async def _health_port(self, holding: _Holding, spec: Object, old: Mapping[str, Any]) -> None:
        before = old.get("healthCheckNodePort") or 0
        if not needs.health_check_port(spec):
            holding.released += [_port_key(before)] if before else []
            return
        asked = spec.get("healthCheckNodePort") or 0
        if not asked:
            spec["healthCheckNodePort"] = await self._next_port(holding)
        elif not before and (problem := await self._problem_with(holding, asked)):
            raise internal_error(f"failed to allocate requested HealthCheck NodePort {asked}: {problem}")


def _out_of_range(address: str, networks: list[_Network]) -> str:
    parsed = formats.parse_ip(address)
    network = next((each for each in networks if parsed is not None and parsed in each), None)
    if network is None:
        return "the provided network does not match the current range"
    if parsed in {network.network_address, network.broadcast_address}:
        return "the provided IP is not in the valid range"
    return ""


def _is_ready(cidr: Mapping[str, Any]) -> bool:
    conditions = (cidr.get("status") or {}).get("conditions") or ()
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _addresses(spec: Mapping[str, Any]) -> list[str]:
    return [address for address in spec.get("clusterIPs") or () if address != NONE]


def _node_ports(spec: Mapping[str, Any]) -> set[int]:
    ports = {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")}
    return ports | ({spec["healthCheckNodePort"]} if spec.get("healthCheckNodePort") else set())


def _address_key(address: str) -> str:
    return f"{ADDRESSES}/{address}"


def _port_key(number: int) -> str:
    return f"{PORTS}/{number}"


def _parent(metadata: Mapping[str, Any]) -> Object:
    return {"group": "", "resource": "services", "namespace": metadata.get("namespace", ""), "name": metadata.get("name", "")}


def _refused(service: Object, error: FieldError) -> StatusError:
    return invalid_object("", "Service", service["metadata"].get("name", ""), [error])
