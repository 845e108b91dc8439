"""URLs, addresses and networks. Source: Kubernetes' `apiserver/pkg/cel/library` urls.go, ip.go and cidr.go."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from msgspec import Struct

from setpoint.api.machinery.cel.functions.conversions import quoted
from setpoint.api.machinery.cel.values import CelError, opaque_names

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Url(Struct, frozen=True):
    """A URL that has a scheme or is a path."""

    text: str

    def parts(self) -> SplitResult:
        return urlsplit(self.text)


class Network(Struct, frozen=True):
    """An address and the length of its prefix; bits beyond the prefix may be set."""

    address: Address
    prefix: int

    def masked(self) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
        return ipaddress.ip_network((self.address, self.prefix), strict=False)

    def __str__(self) -> str:
        return f"{self.address}/{self.prefix}"


opaque_names[Url] = "kubernetes.URL"
opaque_names[Network] = "net.CIDR"
opaque_names[ipaddress.IPv4Address] = opaque_names[ipaddress.IPv6Address] = "net.IP"

_scheme = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:").match
_bad_escape = re.compile(r"%(?![0-9A-Fa-f]{2})").search
_control = re.compile(r"[\x00-\x1f\x7f]").search


def _parse_url(text: str) -> Url | None:
    """A URL by the rules of Go's `url.ParseRequestURI`: absolute, or a path that starts with a slash."""
    if not text or _control(text) or not (text[0] == "/" or _scheme(text)):
        return None
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return None
    path = parts.path + (f"#{parts.fragment}" if parts.fragment else "")
    bad_host = " " in parts.netloc or _bad_escape(parts.netloc)
    return None if bad_host or _bad_escape(path) else Url(text)


def _to_url(text: str) -> Url:
    url = _parse_url(text)
    if url is None:
        raise CelError(f"URL parse error during conversion from string: parse {quoted(text)}: invalid URI for request")
    return url


def _host(url: Url) -> str:
    return unquote(url.parts().netloc.rpartition("@")[2])


def _hostname(url: Url) -> str:
    host = _host(url)
    if host.startswith("["):
        return host[1 : host.find("]")]
    return host.partition(":")[0]


def _port(url: Url) -> str:
    rest = _host(url)
    return rest.rpartition("]")[2].rpartition(":")[2] if ":" in rest.rpartition("]")[2] else ""


def _path(url: Url) -> str:
    path = url.text.partition("?")[0] if not url.parts().scheme else url.parts().path
    return quote(path, safe="/%$&+,:;=@!'()*~-._")


def _query(url: Url) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for key, value in parse_qsl(url.parts().query, keep_blank_values=True):
        out.setdefault(key, []).append(value)
    return out


def _parse_ip(text: str) -> Address | str:
    """The address, or why there is none: zones and IPv4 addresses dressed as IPv6 are refused."""
    if "%" in text:
        return f"IP address {quoted(text)} with zone value is not allowed"
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return (
            f"IP Address {quoted(text)} parse error during conversion from string: ParseAddr({quoted(text)}): unable to parse IP"
        )
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return f"IPv4-mapped IPv6 address {quoted(text)} is not allowed"
    return address


def _to_ip(text: str) -> Address:
    address = _parse_ip(text)
    if isinstance(address, str):
        raise CelError(address)
    return address


def _is_ip(text: str) -> bool:
    return not isinstance(_parse_ip(text), str)


def _parse_cidr(text: str) -> Network | None:
    host, slash, prefix = text.partition("/")
    address = _parse_ip(host)
    if isinstance(address, str) or not slash or not re.fullmatch(r"0|[1-9][0-9]{0,2}", prefix):
        return None
    return Network(address, int(prefix)) if int(prefix) <= address.max_prefixlen else None


def _to_cidr(text: str) -> Network:
    network = _parse_cidr(text)
    if network is None:
        why = f"netip.ParsePrefix({quoted(text)}): {_no_prefix(text)}"
        raise CelError(f"network address parse error during conversion from string: {why}")
    return network


def _no_prefix(text: str) -> str:
    """Why Go's `netip.ParsePrefix` refuses a text."""
    host, slash, prefix = text.rpartition("/")
    if not slash:
        return "no '/'"
    if isinstance(_parse_ip(host), str):
        return f"ParseAddr({quoted(host)}): unable to parse IP"
    if not re.fullmatch(r"0|[1-9][0-9]{0,2}", prefix):
        return f"bad bits after slash: {quoted(prefix)}"
    return "prefix length out of range"


def _contains_ip(network: Network, address: Address) -> bool:
    return address.version == network.address.version and address in network.masked()


def _contains_cidr(network: Network, other: Network) -> bool:
    return other.prefix >= network.prefix and _contains_ip(network, other.address)


def _global_unicast(address: Address) -> bool:
    """As Go sees it: private addresses count, only the special ones do not."""
    special = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not special and str(address) != "255.255.255.255"


def _link_local_multicast(address: Address) -> bool:
    network = "224.0.0.0/24" if address.version == 4 else "ff02::/16"
    return address in ipaddress.ip_network(network)


OVERLOADS: dict[str, Callable[..., Any]] = {
    "string_to_url": _to_url,
    "is_url_string": lambda text: _parse_url(text) is not None,
    "url_get_scheme": lambda url: url.parts().scheme,
    "url_get_host": _host,
    "url_get_hostname": _hostname,
    "url_get_port": _port,
    "url_get_escaped_path": _path,
    "url_get_query": _query,
    "string_to_ip": _to_ip,
    "is_ip": _is_ip,
    "ip_is_canonical": lambda text: str(_to_ip(text)) == text,
    "ip_family": lambda address: address.version,
    "ip_is_unspecified": lambda address: address.is_unspecified,
    "ip_is_loopback": lambda address: address.is_loopback,
    "ip_is_link_local_multicast": _link_local_multicast,
    "ip_is_link_local_unicast": lambda address: address.is_link_local,
    "ip_is_global_unicast": _global_unicast,
    "ip_to_string": str,
    "string_to_cidr": _to_cidr,
    "is_cidr": lambda text: _parse_cidr(text) is not None,
    "cidr_contains_ip_string": lambda network, text: _contains_ip(network, _to_ip(text)),
    "cidr_contains_ip_ip": _contains_ip,
    "cidr_contains_cidr_string": lambda network, text: _contains_cidr(network, _to_cidr(text)),
    "cidr_contains_cidr": _contains_cidr,
    "cidr_ip": lambda network: network.address,
    "cidr_prefix_length": lambda network: network.prefix,
    "cidr_masked": lambda network: Network(network.masked().network_address, network.prefix),
    "cidr_to_string": str,
}
