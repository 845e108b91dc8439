"""Latency against load: requests come at a given rate, whether or not the last ones are answered (open loop)."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import driver
from benchmarks.report import Figure
from benchmarks.scenarios import Bench

RATES = {
    "get": (500, 1000, 2000, 3000, 4000, 5000),
    "create": (100, 250, 500, 750, 1000, 1250, 1500),
    "patch": (100, 250, 500, 750, 1000),
    "apply": (100, 250, 500, 750),
}


def run(bench: Bench) -> Iterator[Figure]:
    for mode, rates in RATES.items():
        for rate in rates[::2] if bench.quick else rates:
            ours = driver.offer(bench.subject, mode, rate, seconds=bench.seconds)
            bare = driver.offer(bench.bare, mode, rate, seconds=bench.seconds) if bench.bare is not None else []
            more = {"rate": float(rate), "p50 ms": _at(ours, 0.5), "p99 ms": _at(ours, 0.99)}
            name = f"{mode} at {rate}/s, p99"
            yield Figure("latency", name, "ms", [_at(ours, 0.99)], [_at(bare, 0.99)] if bare else [], more=more)


def _at(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
