"""What an autoscaler's specification allows at each change of replicas, reckoned from the changes alone.

Independent of the controller: it knows neither metrics nor recommendations, only what was changed and when. Where two moments are
too close to say which came first, the looser answer counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

LAG = 60.0
"""Seconds for which a controller may still act on older bounds: longer than any delay that faults cause."""
SLACK = 1.5
"""Seconds between a decision and its write, and the write and its answer."""


class Limits:
    """One autoscaler's; `behavior` never changes, the bounds may. Every change of replicas is told to `take`."""

    def __init__(self, least: int, most: int, behavior: Mapping[str, Any] | None, now: float) -> None:
        self._behavior = behavior
        self._bounds = [(now, least, most)]
        self._changes: list[tuple[float, int]] = []
        self._raised: list[tuple[float, int]] = []

    @property
    def least(self) -> int:
        return self._bounds[-1][1]

    @property
    def most(self) -> int:
        return self._bounds[-1][2]

    def bound(self, least: int, most: int, now: float) -> None:
        self._bounds.append((now, least, most))

    def forget(self) -> None:
        """Nothing is known of former changes."""
        self._changes, self._raised = [], []

    def unnote(self) -> None:
        """The last change is not known to whom made it."""
        if self._changes:
            self._changes.pop()

    def is_disabled(self, *, up: bool) -> bool:
        return (self._rules(up=up) or {}).get("selectPolicy") == "Disabled"

    def _rules(self, *, up: bool) -> Mapping[str, Any] | None:
        return self._behavior["scaleUp" if up else "scaleDown"] if self._behavior is not None else None

    def take(self, before: int, after: int, now: float) -> list[str]:
        """What is wrong with this change; it counts from now on."""
        recent = [(least, most) for _, least, most in self._recent(now)]
        found = []
        if not any(least <= after <= most for least, most in recent):
            found.append(f"{before} to {after}, bounds {recent}")
        if all(least <= before <= most for least, most in recent):  # else it is put back within its bounds, however far that is
            found += [*self._too_fast(before, after, now), *self._too_soon(before, after, now)]
            if after > before:
                self._raised.append((now, after))
        self._changes.append((now, after - before))
        return found

    def _recent(self, now: float) -> Iterable[tuple[float, int, int]]:
        last = max((place for place, each in enumerate(self._bounds) if each[0] <= now - LAG), default=0)
        return self._bounds[last:]

    def _too_soon(self, before: int, after: int, now: float) -> Iterable[str]:
        """It never shrinks below what it grew to within the window: the metrics asked for at least that.

        Without a behaviour growth says less: it may go back to what was wanted earlier.
        """
        rules = self._rules(up=False)
        if rules is None:
            return
        window = rules["stabilizationWindowSeconds"]
        highest = max((to for moment, to in self._raised if moment > now - window + SLACK), default=0)
        if after < before and after < highest:
            yield f"{before} to {after}, {highest} were wanted in the last {window} s"

    def _too_fast(self, before: int, after: int, now: float) -> Iterable[str]:
        if after > before:
            limit = max(self._highest(before, now), before)
            if after > limit:
                yield f"{before} to {after}, at most {limit} now: {self._rules(up=True)}, {self._changes}"
        elif self._behavior is not None:
            limit = min(self._lowest(before, now), before)
            if after < limit:
                yield f"{before} to {after}, at least {limit} now: {self._rules(up=False)}, {self._changes}"

    def _highest(self, before: int, now: float) -> int:
        rules = self._rules(up=True)
        if rules is None:
            return max(2 * before, 4)
        reached = [self._up(policy, before, now) for policy in rules["policies"]]
        return before if rules["selectPolicy"] == "Disabled" else min(reached) if rules["selectPolicy"] == "Min" else max(reached)

    def _lowest(self, before: int, now: float) -> int:
        rules = self._rules(up=False) or {}
        reached = [self._down(policy, before, now) for policy in rules["policies"]]
        return before if rules["selectPolicy"] == "Disabled" else max(reached) if rules["selectPolicy"] == "Min" else min(reached)

    def _up(self, policy: Mapping[str, Any], before: int, now: float) -> int:
        period = policy["periodSeconds"]
        start = before - self._sum(1, now, self._surely(period, up=True)) + self._sum(-1, now, period + SLACK)
        value = int(policy["value"])
        return start + value if policy["type"] == "Pods" else math.ceil(start * (1 + value / 100))

    def _down(self, policy: Mapping[str, Any], before: int, now: float) -> int:
        period = policy["periodSeconds"]
        start = before - self._sum(1, now, period + SLACK) + self._sum(-1, now, self._surely(period, up=False))
        value = int(policy["value"])
        return start - value if policy["type"] == "Pods" else int(start * (1 - value / 100))

    def _surely(self, period: float, *, up: bool) -> float:
        """Seconds for which a change surely counts: those older than the longest period of their kind may be forgotten."""
        longest: float = max(policy["periodSeconds"] for policy in (self._rules(up=up) or {})["policies"])
        return min(period, longest) - SLACK

    def _sum(self, sign: int, now: float, seconds: float) -> int:
        return sum(abs(delta) for moment, delta in self._changes if delta * sign > 0 and moment > now - seconds)
