"""Which serving certificates a node gets without anybody's hand: for its own name, and for the addresses that its Node tells and
that are nobody else's.

A node's addresses are its own word, and certificates of the cluster's CA are what clients know the API server by. So what is
the API servers', a service's or another node's is left to a person. Loopback may be anybody's: nobody is between there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from ipaddress import ip_address, ip_network

from msgspec import Struct

from setpoint.api.machinery.names import dns_subdomain
from setpoint.api.types.core_v1 import Node
from setpoint.client.store import Store
from setpoint.controllers.certificates.requests import Requested

BY_ADDRESS = "address"
#: names that lead to API servers or services in every cluster, and what such names end with
_OTHERS = ("kubernetes", "kubernetes.default", "localhost")
_SERVICES = (".svc", ".svc.cluster.local")


class Claims(Struct, frozen=True):
    """What names are held against: the addresses of the node itself (None: it is not registered), and what others have."""

    own: frozenset[str] | None
    servers: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    service_ranges: tuple[str, ...] = ()


def addresses_of(node: Node) -> Iterator[str]:
    """Where a node says it is, in the usual form; loopback, which every machine has, is left out."""
    for each in node.status.addresses:
        if each.type in ("InternalIP", "ExternalIP") and (address := plain(each.address)) and not _is_loopback(address):
            yield address


def by_address(node: Node) -> tuple[str, ...]:
    """For an index of nodes."""
    return tuple(addresses_of(node))


def claims_of(asked: Requested, nodes: Store[Node], servers: Collection[str], service_ranges: tuple[str, ...]) -> Claims:
    node = nodes.get(asked.node)
    own = frozenset(plain(each.address) for each in node.status.addresses) if node is not None else None
    held = (address for address in map(plain, asked.ip_addresses) if not _is_loopback(address))
    others = (
        address for address in held if any(each.metadata.name != asked.node for each in nodes.by_index(BY_ADDRESS, address))
    )
    return Claims(own, frozenset(plain(name) for name in servers), frozenset(others), service_ranges)


def refusal(asked: Requested, claims: Claims) -> str:
    """Why a serving certificate is left to a person; empty where it is not."""
    if claims.own is None:
        return "the node is not registered"
    if dns_subdomain(asked.node) or {*asked.dns_names} - {asked.node}:
        return "it asks for names that are not the node's"
    for name in asked.dns_names:
        if name in claims.servers or name in _OTHERS or name.endswith(_SERVICES):
            return f"{name} is a name of the API server or of a service"
    for address in map(plain, asked.ip_addresses):
        if address not in claims.own:
            return f"the node does not tell of its address {address}"
        if not _is_loopback(address) and (why := _taken(address, claims)):
            return f"{address} is {why}"
    return ""


def _taken(address: str, claims: Claims) -> str:
    if address in claims.servers:
        return "an address of the API server"
    if address in claims.others:
        return "an address of another node"
    ranges = map(ip_network, claims.service_ranges)
    return "a service's address" if any(ip_address(address) in each for each in ranges) else ""


def plain(name: str) -> str:
    """An address in its usual form; whatever else in lower case."""
    try:
        ip = ip_address(name)
    except ValueError:
        return name.lower()
    return str(getattr(ip, "ipv4_mapped", None) or ip)


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
