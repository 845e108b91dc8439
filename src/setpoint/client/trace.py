"""The bounded record of a controller's cycles: what was observed, what was planned, what came of it.

"Why is this not converged?", timelines and drift reports are read from it. When full, the oldest cycle goes.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from msgspec import Struct


class Cycle(Struct, frozen=True):
    """One pass over one key. `outcome` is `unchanged`, `acted`, `gone`, `retry`, `terminal`; times in seconds."""

    controller: str
    key: str
    started: float
    seconds: float
    observed: Any
    plan: Any
    outcome: str
    error: str = ""
    requeue_after: float | None = None


class Trace:
    """The last `capacity` cycles, newest last."""

    def __init__(self, capacity: int = 200) -> None:
        self._cycles: deque[Cycle] = deque(maxlen=capacity)

    def record(self, cycle: Cycle) -> None:
        self._cycles.append(cycle)

    def cycles(self, key: str = "") -> list[Cycle]:
        return [cycle for cycle in self._cycles if not key or cycle.key == key]

    def last(self, key: str) -> Cycle | None:
        return next((cycle for cycle in reversed(self._cycles) if cycle.key == key), None)
