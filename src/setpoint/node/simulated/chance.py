"""Chance that follows from a seed and a name: what happened to an object once happens again, whoever comes before it."""

from __future__ import annotations

import hashlib

_BYTES = 8
_ALL = float(2 ** (8 * _BYTES))


class Chance:
    """`of("default/web-0", "create")` is a number from 0 up to 1, the same in every run with the same seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._key = f"{seed}".encode()

    def of(self, *names: str) -> float:
        digest = hashlib.blake2b("\0".join(names).encode(), digest_size=_BYTES, key=self._key)
        return int.from_bytes(digest.digest(), "big") / _ALL
