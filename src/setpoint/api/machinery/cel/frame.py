"""What one evaluation of an expression holds: its variables and what it has cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from setpoint.api.machinery.cel.values import CostExceeded, Interrupted

#: seconds of this thread that an evaluation may take: a busy machine takes none of them away
LONGEST = 5.0


class Frame:
    """The variables by slot, the cost so far and the limit, in Kubernetes' cost units."""

    __slots__ = ("_deadline", "_rounds", "cost", "limit", "values")

    def __init__(self, values: list[Any], limit: int, seconds: float = LONGEST) -> None:
        self.values = values
        self.cost = 0
        self.limit = limit
        self._rounds = 0
        self._deadline = time.thread_time() + seconds

    def round(self, cost: int) -> None:
        """Begins a round of a loop; every hundredth looks at the clock, as Kubernetes looks whether it is still wanted."""
        self.spend(cost)
        self._rounds += 1
        if self._rounds % 100 == 0 and time.thread_time() > self._deadline:
            raise Interrupted

    def spend(self, cost: int) -> None:
        self.cost += cost
        if self.cost > self.limit:
            raise CostExceeded


Run = Callable[[Frame], Any]
