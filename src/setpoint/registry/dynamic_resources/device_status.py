"""What drivers report of allocated devices, in the status of a claim.

Source: `pkg/apis/resource/validation`, apimachinery `pkg/util/validation/ip.go` (IsValidInterfaceAddress).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery.status import invalid, too_long, too_many
from setpoint.registry import formats
from setpoint.registry.conditions import validate_conditions
from setpoint.registry.dynamic_resources import words
from setpoint.registry.dynamic_resources.collections import each_once
from setpoint.registry.fields import Errors, dns_label

_MAX_CONDITIONS = 8
_MAX_ADDRESSES = 16
_LONGEST = {"interfaceName": 256, "hardwareAddress": 128}
#: what Go shows of the names that tell devices apart, whose letters are out of its sight
_UNPRINTABLE: dict[str, Any] = {"Driver": {}, "Pool": {}, "Device": {}, "ShareID": {}}
_NO_ADDRESS = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"

Device = Mapping[str, Any]
Key = tuple[str, ...]


def validate_devices(path: str, devices: Sequence[Device], allocation: Device | None) -> Errors:
    """Each device once, and only those of the allocation."""
    results = ((allocation or {}).get("devices") or {}).get("results") or ()
    known = frozenset(map(_key, results))
    return each_once(path, devices, lambda here, device: _device(here, device, known), _key, shown=_UNPRINTABLE)


def _key(device: Device) -> Key:
    names = tuple(device.get(field, "") for field in ("driver", "pool", "device"))
    share = device.get("shareID")
    return (*names, share) if share is not None else names


def _device(path: str, device: Device, known: frozenset[Key]) -> Errors:
    errors = words.driver_name(f"{path}.driver", device.get("driver", ""))
    errors += words.pool_name(f"{path}.pool", device.get("pool", ""))
    errors += dns_label(f"{path}.device", device.get("device", ""))
    errors += words.share_id(f"{path}.shareID", device.get("shareID"))
    if _key(device) not in known:
        errors.append(invalid(path, _UNPRINTABLE, "must be an allocated device in the claim"))
    conditions = device.get("conditions") or ()
    if len(conditions) > _MAX_CONDITIONS:
        errors.append(too_many(f"{path}.conditions", len(conditions), _MAX_CONDITIONS))
    errors += validate_conditions(f"{path}.conditions", conditions)
    if device.get("data") is not None:
        errors += words.raw_object(f"{path}.data", device["data"])
    return errors + _network(f"{path}.networkData", device.get("networkData") or {})


def _network(path: str, data: Device) -> Errors:
    errors: Errors = [
        too_long(f"{path}.{field}", limit) for field, limit in _LONGEST.items() if len(data.get(field, "").encode()) > limit
    ]
    return errors + each_once(f"{path}.ips", data.get("ips") or (), _address, str, _MAX_ADDRESSES)


def _address(path: str, value: str) -> Errors:
    """An address of an interface: with the length of its network, in the one canonical form."""
    network, address = formats.parse_cidr(value), formats.parse_ip(value.partition("/")[0])
    if network is None or address is None:
        return [invalid(path, value, _NO_ADDRESS)]
    mapped = address.ipv4_mapped if address.version == 6 else None
    canonical = f"{address}/{network.prefixlen}" if mapped is None else f"{mapped}/{network.prefixlen - 96}"
    return [] if value == canonical else [invalid(path, value, f'must be in canonical form ("{canonical}")')]
