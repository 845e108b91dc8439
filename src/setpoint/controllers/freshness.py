"""Whether a cache shows an object at least as new as the one that was last written.

A controller that counts (pods that ended, times that were started) must not plan from a status older than the one it wrote: what
it counted then would be missing, and be done again. Nothing has to be tried again: the newer version comes through the watch.
"""

from __future__ import annotations

from typing import Any

from setpoint.client.objects import key_of


class Freshness:
    """By key, the uid and version that was written last."""

    def __init__(self) -> None:
        self._written: dict[str, tuple[str, int]] = {}

    def note(self, written: Any) -> None:
        """Remember an object that a write gave back."""
        self._written[key_of(written)] = written.metadata.uid, version(written.metadata.resource_version)

    def is_stale(self, cached: Any) -> bool:
        """Whether a newer version was written."""
        key = key_of(cached)
        known = self._written.get(key)
        if known is None or known[0] != cached.metadata.uid:
            return False
        if version(cached.metadata.resource_version) < known[1]:
            return True
        del self._written[key]
        return False

    def forget(self, key: str) -> None:
        self._written.pop(key, None)


def version(text: str) -> int:
    """A resourceVersion as a number; 0 where it is none (another server's business)."""
    return int(text) if text.isdecimal() else 0
