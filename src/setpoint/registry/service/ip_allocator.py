"""Cluster addresses of Services. An address is held by an IPAddress object of networking.k8s.io, which users can see.

Source: `pkg/registry/core/service/ipallocator`, KEP-1880.
"""

from __future__ import annotations

import ipaddress
import uuid
from collections.abc import Mapping
from typing import Any

import orjson

from setpoint.api.machinery.status import StatusError, internal_error, invalid
from setpoint.kit.clock import rfc3339
from setpoint.registry import formats
from setpoint.registry.service import needs
from setpoint.registry.service.holding import Holding, in_any_order
from setpoint.registry.service.needs import NONE
from setpoint.registry.strategy import Object
from setpoint.storage.protocol import Store

ADDRESSES = "ipaddresses.networking.k8s.io"
RANGES = "servicecidrs.networking.k8s.io"
TAKEN = "provided IP is already allocated"

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class IPAllocator:
    """Allocates from `network` and from the ServiceCIDRs that are ready."""

    def __init__(self, store: Store, network: str) -> None:
        self._store = store
        self._network = ipaddress.ip_network(network)

    async def allocate(self, holding: Holding, spec: Object, old: Mapping[str, Any]) -> None:
        """Give the Service what it needs and has not, and note what it no longer needs. `old` is its stored spec, if any."""
        before = of_spec(old)
        if not needs.cluster_ip(spec):
            holding.released += map(key_of, before)
            return
        if needs.is_headless(spec) or before:
            return
        asked = spec.get("clusterIP", "")
        if holding.dry_run:
            self._imagine(holding, spec, asked)
            return
        networks = await self._networks()
        if asked:
            problem = _out_of_range(asked, networks)
            if not problem and not await self._hold_address(holding, asked):
                problem = TAKEN
            if problem:
                raise _refused(holding, spec, problem)
            return
        address = await self._next_address(holding, networks)
        spec["clusterIP"], spec["clusterIPs"] = address, [address]

    def _imagine(self, holding: Holding, spec: Object, asked: str) -> None:
        """A dry run shows the address of the network, and does not ask whether another Service has the one chosen."""
        if not asked:
            spec["clusterIP"] = str(self._network.network_address)
            spec["clusterIPs"] = [spec["clusterIP"]]
        elif problem := _no_host(asked, self._network):
            raise _refused(holding, spec, problem)

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

    async def _next_address(self, holding: Holding, networks: list[_Network]) -> str:
        """A random free address; the first part of each range is left for those that users choose."""
        for network in networks:
            size = network.num_addresses
            reserved = min(max(16, size // 16), 256) if size > 32 else 0
            for low, high in ((reserved + 1, size - 2), (1, reserved)):
                for offset in in_any_order(low, high):
                    address = str(network[offset])
                    if await self._hold_address(holding, address):
                        return address
        raise internal_error("failed to allocate a serviceIP: range is full")

    async def _hold_address(self, holding: Holding, address: str) -> bool:
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
            "spec": {"parentRef": holding.parent},
        }
        return await holding.hold(key_of(address), holder)


def of_spec(spec: Mapping[str, Any]) -> list[str]:
    """The addresses that a Service has."""
    return [address for address in spec.get("clusterIPs") or () if address != NONE]


def key_of(address: str) -> str:
    """The store's key of an address' holder."""
    return f"{ADDRESSES}/{address}"


def _out_of_range(address: str, networks: list[_Network]) -> str:
    parsed = formats.parse_ip(address)
    network = next((each for each in networks if parsed is not None and parsed in each), None)
    if network is None:
        return "the provided network does not match the current range"
    return _no_host(address, network)


def _no_host(address: str, network: _Network) -> str:
    parsed = formats.parse_ip(address)
    if parsed in network and parsed not in {network.network_address, network.broadcast_address}:
        return ""
    return f"the provided IP ({parsed}) is not in the valid range. The range of valid IPs is {network}"


def _refused(holding: Holding, spec: Mapping[str, Any], problem: str) -> StatusError:
    asked = spec["clusterIP"]
    why = f"failed to allocate IP {asked}: {problem}"
    return holding.refused(invalid("spec.clusterIPs", spec.get("clusterIPs") or [asked], why))


def _is_ready(cidr: Mapping[str, Any]) -> bool:
    conditions = (cidr.get("status") or {}).get("conditions") or ()
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)
