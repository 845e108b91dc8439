"""Figures: samples of several repetitions, their median and spread, and the table that people read."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing measured, of Setpoint and, where it can do the same, of the bare stack. `more` is said beside it."""

    scenario: str
    name: str
    unit: str
    ours: Sequence[float]
    bare: Sequence[float] = ()
    goal: float | None = None
    less_is_better: bool = False
    more: dict[str, float] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        return statistics.median(self.ours) / statistics.median(self.bare) if self.bare else None

    @property
    def reached(self) -> bool | None:
        """Whether the goal is; None without one."""
        if self.goal is None:
            return None
        median = statistics.median(self.ours)
        return median <= self.goal if self.less_is_better else median >= self.goal

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"scenario": self.scenario, "name": self.name, "unit": self.unit, "ours": _summary(self.ours)}
        if self.bare:
            found |= {"bare": _summary(self.bare), "ratio": round(self.ratio or 0, 3)}
        if self.goal is not None:
            found |= {"goal": self.goal, "reached": self.reached}
        return found | self.more


def _summary(samples: Sequence[float]) -> dict[str, Any]:
    return {
        "median": round(statistics.median(samples), 3),
        "spread": round(max(samples) - min(samples), 3),
        "samples": [round(each, 3) for each in samples],
    }


def table(figures: Sequence[Figure]) -> list[str]:
    """Lines for people; the spread is half of what lies between the best and the worst repetition, in per cent of the median."""
    heads = ("what", "Setpoint", "±", "bare stack", "±", "ratio", "goal", "")
    rows = [heads, *(_row(each) for each in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    return [
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _row(figure: Figure) -> tuple[str, ...]:
    goal = "" if figure.goal is None else f"{'≤' if figure.less_is_better else '≥'} {_number(figure.goal)}"
    verdict = {None: "", True: "reached", False: "missed"}[figure.reached]
    more = ", ".join(f"{key} {_number(value)}" for key, value in figure.more.items())
    bare = (_number(statistics.median(figure.bare)), _spread(figure.bare)) if figure.bare else ("", "")
    ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
    value = f"{_number(statistics.median(figure.ours))} {figure.unit}"
    return figure.name, value, _spread(figure.ours), *bare, ratio, goal, "  ".join(each for each in (verdict, more) if each)


def _spread(samples: Sequence[float]) -> str:
    median = statistics.median(samples)
    return f"{50 * (max(samples) - min(samples)) / median:.0f} %" if len(samples) > 1 and median else ""


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def markdown(figures: Sequence[Figure]) -> list[str]:
    """The same as a table for the documentation."""
    lines = ["| what | Setpoint | bare stack | ratio | goal |", "|---|---:|---:|---:|---:|"]
    for each in figures:
        what, ours, _, bare, _, ratio, goal, more = _row(each)
        lines.append(f"| {what} | {ours} | {bare} | {ratio} | {goal} {more} |".replace("  ", " "))
    return lines
