"""How the server's seats are divided among priority levels: by shares, and by lending what is not needed.

Source: apiserver `util/flowcontrol/apf_controller.go` (`updateBorrowing`), `conc_alloc.go`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

PERIOD = 10.0  # seconds between two adjustments
_SMOOTHING = 0.977  # per period: half is forgotten in five minutes
_LEAST_TARGET = 0.001


class Bounds(Struct, frozen=True):
    """A level's seats: its own (`nominal`), what it keeps at least, what it may have at most."""

    nominal: int
    minimum: int
    maximum: int


def bounds(server: int, shares: int, all_shares: int, lendable: int, borrowing: int | None) -> Bounds:
    """Seats of a level; `lendable` and `borrowing` are percent of its own (None: as many as the server has)."""
    nominal = math.ceil(server * shares / all_shares) if all_shares else 0
    lent = math.floor(nominal * lendable / 100 + 0.5)
    borrowed = server if borrowing is None else math.floor(nominal * borrowing / 100 + 0.5)
    return Bounds(nominal, nominal - lent, nominal + borrowed)


class Demand:
    """How many seats were asked for: the most at a time, the mean, the deviation; and the mean of long, for levels that lend.

    The mean follows from how long requests took together (Little's law), so that counting one costs next to nothing; the
    deviation is taken for that of requests which come independently, the mean's root.
    """

    __slots__ = ("_from", "_spent", "average", "deviation", "high", "smoothed")

    def __init__(self, now: float) -> None:
        self.high = 0
        self.average = self.deviation = self.smoothed = 0.0
        self._from = now
        self._spent = 0.0

    def close(self, now: float, spent: float, present: int) -> tuple[int, float]:
        """End a period and begin the next: its highest value, and the smoothed envelope.

        `spent` are the seat-seconds of all requests so far, `present` the seats asked for now.
        """
        passed, used = now - self._from, spent - self._spent
        self._from, self._spent = now, spent
        self.average = max(used / passed, 0.0) if passed > 0 else float(present)
        self.deviation = math.sqrt(self.average)
        envelope = self.average + self.deviation
        kept = _SMOOTHING ** max(passed / PERIOD, 1.0)
        self.smoothed = max(envelope, kept * self.smoothed + (1 - kept) * envelope)
        high, self.high = max(self.high, present), present
        return high, self.smoothed


class Wish(Struct, frozen=True):
    """What a level must have, may have, and would like to have."""

    lower: float
    upper: float
    target: float


def wish(level: Bounds, high: float, smoothed: float) -> Wish:
    """A level keeps what it needed of its own in the last period, and never less than what it does not lend."""
    lower = max(float(level.minimum), min(float(level.nominal), high))
    return Wish(lower, float(max(level.maximum, lower)), max(lower, smoothed))


def allocate(total: int, wishes: Sequence[Wish]) -> tuple[list[float], float] | None:
    """Seats for each, `total` in all, in the same proportion of their targets as far as their bounds let them.

    Also that proportion. None when no division keeps the bounds. Example: 10 seats; targets 2 and 6, nobody bound: 2.5 and
    7.5; if the second may have 6 at the most: 4 and 6.
    """
    if sum(each.lower for each in wishes) > total or sum(each.upper for each in wishes) < total:
        return None
    low, high = 0.0, max((each.upper / max(each.target, _LEAST_TARGET) for each in wishes), default=0.0)
    for _ in range(60):  # halving what is left of the range: exact to more digits than anyone needs
        middle = (low + high) / 2
        if sum(_clamped(each, middle) for each in wishes) < total:
            low = middle
        else:
            high = middle
    return [_clamped(each, high) for each in wishes], high


def _clamped(each: Wish, proportion: float) -> float:
    return max(each.lower, min(each.upper, proportion * max(each.target, _LEAST_TARGET)))
