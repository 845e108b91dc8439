"""What the server makes up: identities of objects, and the ends of generated names.

Both are drawn from the system's randomness many at a time, since each draw by itself is a call of the system.
"""

from __future__ import annotations

import os

#: letters of generated names: no vowels and no look-alikes (apimachinery `util/rand`)
LETTERS = "bcdfghjklmnpqrstvwxz2456789"
SUFFIX = 5
_DRAWN = 128
_FAIR = len(LETTERS) * (256 // len(LETTERS))  # bytes below it stand for each letter equally often
_uids: list[str] = []
_letters: list[str] = []


def uid() -> str:
    """A UUID of version 4."""
    if not _uids:
        digits = os.urandom(16 * _DRAWN).hex()
        _uids.extend(_uuid(digits[start : start + 32]) for start in range(0, len(digits), 32))
    return _uids.pop()


def _uuid(digits: str) -> str:
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def suffix() -> str:
    """Five letters for the end of a name."""
    while len(_letters) < SUFFIX:
        _letters.extend(LETTERS[byte % len(LETTERS)] for byte in os.urandom(SUFFIX * _DRAWN) if byte < _FAIR)
    found = "".join(_letters[-SUFFIX:])
    del _letters[-SUFFIX:]
    return found
