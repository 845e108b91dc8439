"""The figures as pictures: latency against load, and cost against size. Needs matplotlib (the extra `plots`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "setpoint"  # the same figures make the same file
Figures = Sequence[dict[str, Any]]


def draw(figures: Figures, folder: Path) -> Iterator[Path]:
    """Whatever the figures allow, as SVG files in `folder`; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, plot in (("latency", _latency), ("size", _size), ("memory", _memory)):
        chosen = [each for each in figures if each["scenario"] == ("size" if name == "memory" else name)]
        if chosen:
            figure = plt.figure(figsize=(7, 4))
            axes = figure.add_subplot()
            plot(axes, chosen)
            axes.grid(visible=True, alpha=0.3)
            axes.legend()
            path = folder / f"{name}.svg"
            figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
            yield path


def _latency(axes: Any, figures: Figures) -> None:
    """p99 against offered requests a second; solid Setpoint, dashed the bare stack."""
    for mode, points in _series(figures, "rate").items():
        (line,) = axes.plot([x for x, _ in points], [each["ours"]["median"] for _, each in points], marker="o", label=mode)
        if all("bare" in each for _, each in points):
            bare = [each["bare"]["median"] for _, each in points]
            axes.plot([x for x, _ in points], bare, linestyle="--", color=line.get_color())
    axes.set(xlabel="requests offered a second", ylabel="latency, p99, ms (dashed: bare stack)", yscale="log")


def _size(axes: Any, figures: Figures) -> None:
    for title, points in _series(figures, "objects").items():
        axes.plot([x for x, _ in points], [each["ours"]["median"] for _, each in points], marker="o", label=title)
    axes.set(xlabel="ConfigMaps in the store", ylabel="processor time of one request, µs", xscale="log", yscale="log")


def _memory(axes: Any, figures: Figures) -> None:
    points = next(iter(_series(figures, "objects").values()))
    axes.plot([x for x, _ in points], [each["MiB"] for _, each in points], marker="o", label="resident memory")
    axes.set(xlabel="ConfigMaps in the store", ylabel="MiB")


def _series(figures: Figures, key: str) -> dict[str, list[tuple[float, dict[str, Any]]]]:
    """Points of each line, by the first words of the figure's name."""
    found: dict[str, list[tuple[float, dict[str, Any]]]] = defaultdict(list)
    for each in figures:
        found[each["name"].partition(",")[0].partition(" at ")[0]].append((each[key], each))
    return found
