"""The identity that every request has (`Audit-Id`), whether or not it is recorded.

Source: apiserver `endpoints/filters/audit_init.go`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

_DRAWN = 256  # identities that are made at once
_DASHES = (8, 13, 18, 23)
_DIGITS = tuple(place for place in range(36) if place not in _DASHES)
_VERSION = bytes(0x40 | byte & 0x0F for byte in range(256))
_VARIANT = bytes(0x80 | byte & 0x3F for byte in range(256))
_identities: list[str] = []


def identity_of(headers: Mapping[str, str]) -> str:
    """What the client calls its request, or a new identity."""
    return headers.get("audit-id") or new_identity()


def new_identity() -> str:
    """A UUID of version 4; many are written at once, digit by digit, which costs a fifth of writing each."""
    if not _identities:
        drawn = bytearray(os.urandom(16 * _DRAWN))
        drawn[6::16] = drawn[6::16].translate(_VERSION)
        drawn[8::16] = drawn[8::16].translate(_VARIANT)
        digits, text = drawn.hex().encode(), bytearray(b"-" * 36 + b" ") * _DRAWN
        for number, place in enumerate(_DIGITS):
            text[place::37] = digits[number::32]
        _identities.extend(text.decode().split())
    return _identities.pop()
