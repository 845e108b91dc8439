"""Addresses and networks, and the wording of checks that many kinds share.

Each check answers with the messages of Kubernetes' `apimachinery/pkg/util/validation`, none if the value is good.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache

MAX_INT32 = 2**31 - 1
_LONGEST_IP = 45
NOT_NEGATIVE = "must be greater than or equal to 0"
POSITIVE = "must be greater than zero"
INTEGER = "must be an integer"
IMMUTABLE = "field is immutable"
FILE_MODE = "must be a number between 0 and 0777 (octal), both inclusive"
IP_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"


def parse_ip(value: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address, read as Go's net package does; leading zeros, which old objects have, are dropped."""
    return _known_ip(value) if len(value) <= _LONGEST_IP else _read_ip(value)


def _read_ip(value: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    if "%" in value:
        return None
    try:
        return ipaddress.ip_address(value)
    except ValueError:
        pass
    parts = value.split(".")
    if len(parts) != 4 or not all(re.fullmatch(r"[0-9]+", part) for part in parts):
        return None
    try:
        return ipaddress.IPv4Address(".".join(str(int(part)) for part in parts))
    except ValueError:
        return None


#: a pod's status says each of its addresses several times, and again with every change
_known_ip = lru_cache(maxsize=4096)(_read_ip)


def ip(value: str) -> list[str]:
    """An IP address: without leading zeros, and no IPv4 in the clothes of IPv6 (KEP-4858)."""
    address = parse_ip(value)
    if address is None:
        return [IP_ADDRESS]
    if address.version == 4:
        return [] if value == str(address) else ["must not have leading 0s"]
    return [] if address.ipv4_mapped is None else ["must not be an IPv4-mapped IPv6 address"]


def canonical_ip(value: str) -> list[str]:
    """An IP address in a newer field, where only its one canonical form will do."""
    messages, address = ip(value), parse_ip(value)
    return messages if messages or value == str(address) else [f'must be in canonical form ("{address}")']


def cidr(value: str) -> list[str]:
    """A network, nothing set beyond its prefix (KEP-4858)."""
    network, (address, _, bits) = parse_cidr(value), value.partition("/")
    if network is None:
        return [CIDR]
    host = parse_ip(address)
    if host is None or (host.version == 4 and address != str(host)) or bits != str(int(bits)):
        return ["must not have leading 0s in IP or prefix length"]
    if host.version == 6 and host.ipv4_mapped is not None:
        return ["must not have an IPv4-mapped IPv6 address"]
    return [] if host == network.network_address else ["must not have bits set beyond the prefix length"]


def canonical_cidr(value: str) -> list[str]:
    """A network in a newer field: in canonical form."""
    messages, network = cidr(value), parse_cidr(value)
    return messages if messages or value == str(network) else [f'must be in canonical form ("{network}")']


def parse_cidr(value: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    address, slash, bits = value.partition("/")
    parsed = parse_ip(address)
    if parsed is None or not slash or not re.fullmatch(r"[0-9]+", bits):
        return None
    try:
        return ipaddress.ip_network((parsed, int(bits)), strict=False)
    except ValueError:
        return None


def special_ip(value: str) -> list[str]:
    """Addresses that mean something else on every machine, which no endpoint or external address can be."""
    address = parse_ip(value)
    if address is None:
        return ["must be a valid IP address"]
    out = []
    if address.is_unspecified:
        out.append(f"may not be unspecified ({value})")
    if address.is_loopback:
        out.append("may not be in the loopback range (127.0.0.0/8, ::1/128)")
    if address.is_link_local:
        out.append("may not be in the link-local range (169.254.0.0/16, fe80::/10)")
    if address in _LINK_LOCAL_MULTICAST[address.version]:
        out.append("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
    return out


#: where pods are on machines without networks of their own: each has an address of its own, as elsewhere, but loopback
POD_LOOPBACK = ipaddress.ip_network("127.64.0.0/10")


def endpoint_ip(value: str) -> list[str]:
    """An endpoint's address. Kubernetes has no loopback among them; ours may be pods of the one machine."""
    address = parse_ip(value)
    return [] if address is not None and address.version == 4 and address in POD_LOOPBACK else special_ip(value)


_LINK_LOCAL_MULTICAST = {4: ipaddress.ip_network("224.0.0.0/24"), 6: ipaddress.ip_network("ff02::/16")}
