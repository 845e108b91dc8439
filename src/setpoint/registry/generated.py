"""What the server makes up: identities of objects and of requests, and the ends of generated names.

Both are drawn from the system's randomness many at a time, since each draw by itself is a call of the system.
"""

from __future__ import annotations

import os

#: letters of generated names: no vowels and no look-alikes (apimachinery `util/rand`)
LETTERS = "bcdfghjklmnpqrstvwxz2456789"
SUFFIX = 5
_DRAWN = 128
_FAIR = len(LETTERS) * (256 // len(LETTERS))  # bytes below it stand for each letter equally often
_DASHES = (8, 13, 18, 23)
_DIGITS = tuple(place for place in range(36) if place not in _DASHES)
_VERSION = bytes(0x40 | byte & 0x0F for byte in range(256))
_VARIANT = bytes(0x80 | byte & 0x3F for byte in range(256))
_uids: list[str] = []
_letters: list[str] = []


def uid() -> str:
    """A UUID of version 4; many are written at once, digit by digit, which costs a fifth of writing each."""
    if not _uids:
        drawn = bytearray(os.urandom(16 * _DRAWN))
        drawn[6::16] = drawn[6::16].translate(_VERSION)
        drawn[8::16] = drawn[8::16].translate(_VARIANT)
        digits, text = drawn.hex().encode(), bytearray(b"-" * 36 + b" ") * _DRAWN
        for number, place in enumerate(_DIGITS):
            text[place::37] = digits[number::32]
        _uids.extend(text.decode().split())
    return _uids.pop()


def suffix() -> str:
    """Five letters for the end of a name."""
    while len(_letters) < SUFFIX:
        _letters.extend(LETTERS[byte % len(LETTERS)] for byte in os.urandom(SUFFIX * _DRAWN) if byte < _FAIR)
    found = "".join(_letters[-SUFFIX:])
    del _letters[-SUFFIX:]
    return found
