"""Crash and image backoff: 10 s doubling to 5 min, forgotten after 10 min of good behaviour.

Source: kubelet's use of client-go's flowcontrol.Backoff: the first failure costs nothing, and the entry is kept for twice its
maximum.
"""

from __future__ import annotations

from msgspec import Struct

INITIAL = 10.0
MAXIMUM = 300.0


class Backoff(Struct):
    """The delay that follows the next failure. `updated` is when `seconds` was last set."""

    seconds: float = 0.0
    updated: float = 0.0

    def due(self, failed_at: float) -> float:
        """When to try again after a failure at `failed_at`."""
        if not self.seconds or self._forgotten(failed_at):
            return failed_at
        return failed_at + self.seconds

    def next(self, failed_at: float, now: float) -> None:
        """A new try begins: the failure after this one waits longer."""
        if not self.seconds or self._forgotten(failed_at):
            self.seconds = INITIAL
        else:
            self.seconds = min(self.seconds * 2, MAXIMUM)
        self.updated = now

    def _forgotten(self, at: float) -> bool:
        return at - self.updated > 2 * MAXIMUM


def duration(seconds: float) -> str:
    """As Go prints it: `10s`, `1m20s`, `5m0s`."""
    whole = int(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    if hours:
        return f"{hours}h{minutes}m{left}s"
    return f"{minutes}m{left}s" if minutes else f"{left}s"
