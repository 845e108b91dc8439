"""Requests a second by wrk: GET, create, merge patch and server-side apply at 1, 16 and 64 connections.

Setpoint and the bare stack take turns within each repetition, so that both see the machine in the same mood.
The bare stack merges what Setpoint applies.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from benchmarks import wrk
from benchmarks.report import Figure
from benchmarks.scenarios import Bench
from benchmarks.target import Target

MODES = {"get": "GET one", "create": "create", "patch": "merge patch", "apply": "server-side apply"}
CONNECTIONS = (1, 16, 64)
GOALS = {("get", 16): 12_000, ("create", 16): 3_500, ("create", 64): 4_500, ("patch", 16): 3_000, ("apply", 16): 2_000}


def run(bench: Bench) -> Iterator[Figure]:
    for target in _targets(bench):
        wrk.drive(target, "get", 16, 1)  # what is done once is done
    for mode, title in MODES.items():
        for connections in CONNECTIONS:
            yield _figure(bench, mode, title, connections)


def _targets(bench: Bench) -> list[Target]:
    return [bench.subject] if bench.bare is None else [bench.bare, bench.subject]


def _figure(bench: Bench, mode: str, title: str, connections: int) -> Figure:
    found: dict[Target, list[dict[str, float]]] = {target: [] for target in _targets(bench)}
    for _ in range(bench.repeats):
        for target, runs in found.items():
            runs.append(wrk.drive(target, mode, connections, bench.seconds))
    ours = found[bench.subject]
    more = {"p99 ms": _median(ours, "p99_ms"), "µs": _median(ours, "cpu_us")}
    if errors := sum(each["errors"] for each in ours):
        more["ERRORS"] = errors
    bare = [each["per_second"] for each in found.get(bench.bare, ())] if bench.bare else []
    name = f"{title}, {connections} connection{'s' if connections > 1 else ''}"
    rates = [each["per_second"] for each in ours]
    return Figure("requests", name, "/s", rates, bare, goal=GOALS.get((mode, connections)), more=more)


def _median(runs: list[dict[str, float]], key: str) -> float:
    return statistics.median(each[key] for each in runs)
