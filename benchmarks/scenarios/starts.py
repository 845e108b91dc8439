"""From the process's creation to ready: with a node, on a fresh data directory and on the same again; and without nodes."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.report import Figure
from benchmarks.scenarios import Bench

GOAL = 0.7


def run(bench: Bench) -> Iterator[Figure]:
    found: dict[str, list[float]] = {}
    for number in range(bench.repeats):
        for which in ("fresh", "second"):
            server, start = bench.start(f"start-{number}", nodes=1)
            with server:
                found.setdefault(f"{which} start to /readyz", []).append(start.readyz)
                found.setdefault(f"{which} start to node Ready", []).append(start.node_ready)
        server, start = bench.start(f"start-bare-{number}")
        with server:
            found.setdefault("start without nodes to /readyz", []).append(start.readyz)
    for name, samples in found.items():
        yield Figure("starts", name, "s", samples, goal=GOAL if name.endswith("/readyz") else 1.0, less_is_better=True)
