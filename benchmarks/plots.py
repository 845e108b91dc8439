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
    for name, (scenario, key, plot) in PLOTS.items():
        chosen = [each for each in figures if each["scenario"] == scenario and key in each]
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


def _cost(axes: Any, figures: Figures, key: str, of: str) -> None:
    """Microseconds of processor time for one pod: of all processes end to end (solid), of the scheduler alone (dashed)."""
    whole = sorted((each[key], each["µs/pod"]) for each in figures if "µs/pod" in each)
    alone = sorted((each[key], each["ours"]["median"]) for each in figures if each["unit"] == "µs/pod")
    for points, line, label in ((whole, "-", "all processes, end to end"), (alone, "--", "the scheduler alone")):
        if points:
            axes.plot([x for x, _ in points], [y for _, y in points], line, marker="o", label=label)
    costs = [y for _, y in (*whole, *alone)]
    limits = (min(costs) / 3, max(costs) * 3)  # wide, so that what hardly grows looks so
    axes.set(xlabel=of, ylabel="processor time of one pod, µs", yscale="log", ylim=limits)


def _nodes(axes: Any, figures: Figures) -> None:
    _cost(axes, [each for each in figures if not each.get("placed")], "nodes", "nodes")


def _placed(axes: Any, figures: Figures) -> None:
    """End to end on the nodes that took most batches."""
    most = max((each["placed"] for each in figures), default=0)
    on = {each.get("nodes") for each in figures if each["placed"] == most} | {None}
    _cost(axes, [each for each in figures if each.get("nodes") in on], "placed", "pods already placed")


#: file, then scenario, what a figure must have, and how it is drawn
PLOTS = {
    "latency": ("latency", "rate", _latency),
    "size": ("size", "objects", _size),
    "memory": ("size", "objects", _memory),
    "scheduling-nodes": ("scheduling", "nodes", _nodes),
    "scheduling-placed": ("scheduling", "placed", _placed),
}
