"""Expectations: what a controller wrote and has not yet seen in its cache.

A controller that just created two pods must not count its cache before both show up there, or it would create them again.
It says what it expects before writing, its event handlers lower the count, and it acts on the cache only when nothing is
outstanding — or after five minutes, in case an event was lost for good. As client-go's ControllerExpectations and its
variant that tracks uids.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from setpoint.kit.clock import Clock

TIMEOUT = 300.0  # seconds after which an event counts as lost


class _Outstanding(Struct):
    since: float
    creations: int = 0
    deletions: set[str] = field(default_factory=set)


class Expectations:
    """Per controller key. Deletions are known by the uid (or key) of what is deleted, so that a double event counts once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._keys: dict[str, _Outstanding] = {}

    def expect_creations(self, key: str, count: int) -> None:
        """Say so before the first write."""
        self._get(key).creations += count

    def expect_deletions(self, key: str, ids: Iterable[str]) -> None:
        self._get(key).deletions.update(ids)

    def creation_observed(self, key: str, count: int = 1) -> None:
        """An object was seen, or its creation failed."""
        if (known := self._keys.get(key)) is not None and known.creations > 0:
            known.creations = max(0, known.creations - count)

    def deletion_observed(self, key: str, uid: str) -> None:
        """An object was seen to go (or its deletionTimestamp was), or its deletion failed."""
        if (known := self._keys.get(key)) is not None:
            known.deletions.discard(uid)

    def satisfied(self, key: str) -> bool:
        """Whether the cache may be trusted for `key`."""
        known = self._keys.get(key)
        if known is None:
            return True
        return (not known.creations and not known.deletions) or self._clock.monotonic() - known.since > TIMEOUT

    def forget(self, key: str) -> None:
        self._keys.pop(key, None)

    def _get(self, key: str) -> _Outstanding:
        if self.satisfied(key):
            self._keys[key] = _Outstanding(self._clock.monotonic())
        return self._keys[key]
