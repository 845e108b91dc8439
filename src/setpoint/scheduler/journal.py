"""What changed on the nodes, in order, so that whoever keeps something computed need only look at what is new.

A reader remembers a position and asks for what came after it; one that was away for too long is told so, and computes all anew.
Nothing is done for readers that do not ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from setpoint.scheduler.pods import PodInfo

KEPT = 8192  # changes, at least; twice as many before the older ones go


class Change(NamedTuple):
    """A pod came to (1) or left (-1) the node in `slot`; without a pod, the node itself changed."""

    slot: int
    sign: int = 0
    info: PodInfo | None = None


class Journal:
    """See the module."""

    def __init__(self) -> None:
        self._entries: list[Change] = []
        self._base = 0

    @property
    def end(self) -> int:
        """The position after the newest change."""
        return self._base + len(self._entries)

    def write(self, change: Change) -> None:
        self._entries.append(change)
        if len(self._entries) >= 2 * KEPT:
            del self._entries[:KEPT]
            self._base += KEPT

    def since(self, position: int) -> Sequence[Change] | None:
        """The changes from `position` on; None if some of them are forgotten."""
        if position < self._base:
            return None
        return self._entries[position - self._base :]
