"""The pod-template-hash: a short word that names a version of a pod template.

As `ComputeHash` in `pkg/controller/controller_utils.go`: FNV-1a with 32 bits over the template, then over the collision count if
there is one, written with an alphabet that spells no bad words. The same template always gives the same word.
"""

from __future__ import annotations

import struct

import msgspec

from setpoint.api.types import core_v1

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


def template_hash(template: core_v1.PodTemplateSpec, collision_count: int | None = None) -> str:
    """The value of the label `pod-template-hash`."""
    data = msgspec.json.encode(template, order="deterministic")
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
