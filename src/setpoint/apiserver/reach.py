"""Where the API server connects on others' behalf: webhooks, aggregated servers, nodes, and what users reach through it.

The names and addresses come from objects, so from whoever may write those. Whatever they say, and whatever a name resolves to at
that moment, no connection goes to addresses that are nobody's service: link-local ones (metadata services of clouds answer there
to whoever is on the machine), multicast, broadcast and the unspecified address. The check is made on the very address that is
connected to. Loopback is allowed, as in Kubernetes: webhooks and nodes of one machine are there.
Redirects are never followed: they would be the other side's choice of where to go next.
Source of the forbidden addresses: apiserver `pkg/util/proxy`, IsProxyableIP.
"""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING, Any

from setpoint.registry.formats import POD_LOOPBACK

if TYPE_CHECKING:
    import aiohttp


class NotAllowed(OSError):
    """The address is none that the API server connects to."""

    def __init__(self, address: str) -> None:
        super().__init__(0, f"address {address} is not allowed")


def check(address: str) -> None:
    """Raises NotAllowed."""
    ip: Any = ipaddress.ip_address(address.partition("%")[0])
    ip = getattr(ip, "ipv4_mapped", None) or ip
    if ip.is_link_local or ip.is_multicast or ip.is_unspecified or str(ip) == "255.255.255.255":
        raise NotAllowed(address)


def check_proxied(address: str) -> None:
    """The narrower rule for requests that users send on to pods, services and nodes: no loopback either, but for pods'.

    Raises NotAllowed, also for what is no address.
    """
    try:
        ip: Any = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        raise NotAllowed(address) from None
    check(address)
    ip = getattr(ip, "ipv4_mapped", None) or ip
    if ip.is_loopback and not (ip.version == POD_LOOPBACK.version and ip in POD_LOOPBACK):
        raise NotAllowed(address)


def make_proxied_socket(info: aiohttp.AddrInfoType) -> socket.socket:
    """The same for what users send on; raises NotAllowed."""
    if info[0] in (socket.AF_INET, socket.AF_INET6):
        check_proxied(str(info[4][0]))
    return make_socket(info)


def make_socket(info: aiohttp.AddrInfoType) -> socket.socket:
    """A socket to an address that was looked up; raises NotAllowed. For aiohttp's connectors."""
    family, kind, protocol, _, address = info
    if family in (socket.AF_INET, socket.AF_INET6):
        check(str(address[0]))
    return socket.socket(family=family, type=kind, proto=protocol)


def no_redirects() -> aiohttp.TraceConfig:
    """Ends a request that is answered with a redirect, where aiohttp would follow it (WebSockets)."""
    import aiohttp

    trace = aiohttp.TraceConfig()
    trace.on_request_redirect.append(_refuse)
    return trace


async def _refuse(_session: object, _context: object, params: aiohttp.TraceRequestRedirectParams) -> None:
    import aiohttp

    raise aiohttp.ClientError(f"the answer was a redirect ({params.response.status}), which is not followed")
