"""The pod-template-hash: a short word that names a version of a pod template.

As `ComputeHash` in `pkg/controller/controller_utils.go`: FNV-1a with 32 bits over the template, then over the collision count if
there is one, written with an alphabet that spells no bad words. What is hashed is the text that a Go program prints of the
template; printed alike, the ReplicaSets of a manifest have the names here that they have on any other cluster.
"""

from __future__ import annotations

import struct
from typing import Any

import msgspec

from setpoint.api.types import core_v1
from setpoint.controllers.template_hash.printing import printed

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


def template_hash(template: core_v1.PodTemplateSpec, collision_count: int | None = None) -> str:
    """The value of the label `pod-template-hash`."""
    body: Any = msgspec.to_builtins(template)
    data = printed(body, "v1.PodTemplateSpec").encode()
    if collision_count is not None:
        data += struct.pack("<Q", collision_count & 0xFFFFFFFF)
    return safe_encode(str(fnv32a(data)))


def fnv32a(data: bytes) -> int:
    value = 0x811C9DC5
    for byte in data:
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def safe_encode(text: str) -> str:
    """`rand.SafeEncodeString`: each byte becomes a letter without vowels, or a digit."""
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in text.encode())
