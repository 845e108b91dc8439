"""Warnings about addresses that are accepted in old fields but not in their one canonical form (KEP-4858).

Source: apimachinery `pkg/util/validation/ip.go` (GetWarningsForIP, GetWarningsForCIDR).
"""

from __future__ import annotations

import ipaddress
import json

from setpoint.registry.formats import parse_cidr, parse_ip

_FUTURE = "will be considered invalid in a future Kubernetes release: use"


def ip_warnings(path: str, value: str) -> list[str]:
    """One address; what is no address at all is validation's business."""
    address = parse_ip(value)
    if address is None:
        return []
    mapped = address.ipv4_mapped if address.version == 6 else None
    if mapped is not None or (address.version == 4 and value != str(address)):
        return [f"{path}: non-standard IP address {json.dumps(value)} {_FUTURE} {json.dumps(str(mapped or address))}"]
    if value != str(address):
        return [f"{path}: IPv6 address {json.dumps(value)} should be in RFC 5952 canonical format ({json.dumps(str(address))})"]
    return []


def cidr_warnings(path: str, value: str) -> list[str]:
    """A network and its prefix's length."""
    network, (text, _, bits) = parse_cidr(value), value.partition("/")
    address = parse_ip(text)
    if network is None or address is None:
        return []
    quoted, canonical = json.dumps(value), json.dumps(str(network))
    out = []
    if address != network.network_address:
        single = json.dumps(f"{address}/{address.max_prefixlen}")
        out.append(f"{path}: CIDR value {quoted} is ambiguous in this context (should be {canonical} or {single}?)")
    if _is_sloppy(address, text, bits):
        out.append(f"{path}: non-standard CIDR value {quoted} {_FUTURE} {canonical}")
    elif not out and address.version == 6 and value != str(network):
        out.append(f"{path}: IPv6 CIDR value {quoted} should be in RFC 5952 canonical format ({canonical})")
    return out


def _is_sloppy(address: ipaddress.IPv4Address | ipaddress.IPv6Address, text: str, bits: str) -> bool:
    """Leading zeros, or IPv4 in the clothes of IPv6."""
    if bits != str(int(bits)):
        return True
    return address.ipv4_mapped is not None if address.version == 6 else text != str(address)
