"""What one evaluation of an expression holds: its variables and what it has cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from setpoint.api.machinery.cel.values import CostExceeded


class Frame:
    """The variables by slot, the cost so far and the limit, in Kubernetes' cost units."""

    __slots__ = ("cost", "limit", "values")

    def __init__(self, values: list[Any], limit: int) -> None:
        self.values = values
        self.cost = 0
        self.limit = limit

    def spend(self, cost: int) -> None:
        self.cost += cost
        if self.cost > self.limit:
            raise CostExceeded


Run = Callable[[Frame], Any]
