"""How long a node's failed daemon pods are left alone: a kubelet that refuses a pod would otherwise be offered it for ever."""

from __future__ import annotations

from msgspec import Struct

from setpoint.kit.clock import Clock

FIRST, LONGEST = 1.0, 900.0


class _Failure(Struct, frozen=True):
    at: float
    delay: float


class Failures:
    """Per DaemonSet and node: 1 s, doubling to 15 minutes; forgotten after half an hour without a failure."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[str, dict[str, _Failure]] = {}

    def count(self, key: str, node: str) -> None:
        """A failed pod was just taken away."""
        now = self._clock.monotonic()
        remembered = {name: failure for name, failure in self._known.get(key, {}).items() if now - failure.at <= 2 * LONGEST}
        former = remembered.get(node)
        remembered[node] = _Failure(now, FIRST if former is None else min(2 * former.delay, LONGEST))
        self._known[key] = remembered

    def waits(self, key: str) -> dict[str, float]:
        """The nodes whose failed pods have to wait, and how many seconds still."""
        now = self._clock.monotonic()
        known = self._known.get(key, {})
        left = {node: failure.at + failure.delay - now for node, failure in known.items()}
        return {node: seconds for node, seconds in left.items() if seconds > 0}

    def forget(self, key: str) -> None:
        self._known.pop(key, None)
