"""How full a node would be, as a score: the strategies of NodeResourcesFit (least or most allocated, or a line of one's own)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from setpoint.scheduler.framework import MAX_SCORE
from setpoint.scheduler.plugin_config import ScoringStrategy, UtilizationShape

MAX_SHAPE_SCORE = 10
Rate = Callable[[int, int], int]


def least(requested: int, capacity: int) -> int:
    """The more is left, the better."""
    return (capacity - requested) * MAX_SCORE // capacity if requested <= capacity else 0


def most(requested: int, capacity: int) -> int:
    """The less is left, the better."""
    return min(requested, capacity) * MAX_SCORE // capacity


def line(shape: Sequence[UtilizationShape]) -> Rate:
    """By a line through points of utilization (percent) and score (0 to 10); level before the first and after the last."""
    points = [(each.utilization, each.score * (MAX_SCORE // MAX_SHAPE_SCORE)) for each in shape]

    def rate(requested: int, capacity: int) -> int:
        used = 100 if requested > capacity else requested * 100 // capacity
        before: tuple[int, int] | None = None
        for at, score in points:
            if used <= at:
                if before is None or at == before[0]:
                    return score
                rise = (score - before[1]) * (used - before[0])
                return before[1] + int(rise / (at - before[0]))
            before = (at, score)
        return points[-1][1]

    return rate


def rate_of(strategy: ScoringStrategy) -> Rate:
    """The function of requested amount and capacity that a strategy means."""
    if strategy.type == "MostAllocated":
        return most
    if strategy.type == "RequestedToCapacityRatio" and strategy.requested_to_capacity_ratio is not None:
        return line(strategy.requested_to_capacity_ratio.shape)
    return least
