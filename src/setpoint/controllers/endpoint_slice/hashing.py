"""The order of ports in Endpoints and slices: by the hash of what Go prints of them, as in Kubernetes.

Remembered: the pods of a Service have the same ports, most of them.
"""

from __future__ import annotations

from functools import lru_cache

from setpoint.api.types import core_v1, discovery_v1

_NIL = "<nil>"
_BASIS, _PRIME, _MASK = 0x6C62272E07BB014262B821756295C58D, 0x1000000000000000000013B, 2**128 - 1


@lru_cache(maxsize=1024)
def slice_port_hash(port: discovery_v1.EndpointPort) -> int:
    """As `deepHashObjectToString` of a `discovery.EndpointPort`."""
    name = _NIL if port.name is None else port.name
    number = _NIL if port.port is None else port.port
    fields = f"Name:(*string){name} Protocol:(*v1.Protocol){port.protocol or _NIL} Port:(*int32){number}"
    return _fnv128a(f"(v1.EndpointPort){{{fields} AppProtocol:(*string){port.app_protocol or _NIL}}}")


@lru_cache(maxsize=1024)
def port_hash(port: core_v1.EndpointPort) -> int:
    """As `hashObject` of a `v1.EndpointPort`."""
    fields = f"Name:(string){port.name} Port:(int32){port.port} Protocol:(v1.Protocol){port.protocol}"
    return _fnv128a(f"(v1.EndpointPort){{{fields} AppProtocol:(*string){port.app_protocol or _NIL}}}")


def _fnv128a(text: str) -> int:
    """FNV-1a with 128 bits."""
    value = _BASIS
    for byte in text.encode():
        value = ((value ^ byte) * _PRIME) & _MASK
    return value
