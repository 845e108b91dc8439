"""Lists, in bytes a second: pages of 500, and the whole collection from the cache."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import wrk
from benchmarks.report import Figure
from benchmarks.scenarios import Bench
from benchmarks.target import Target

LISTS = {"list": ("LIST limit=500, 4 connections", 4), "whole": ("LIST whole, resourceVersion=0, 2 connections", 2)}
MIB = 2**20


def run(bench: Bench) -> Iterator[Figure]:
    for mode, (name, connections) in LISTS.items():
        ours: list[dict[str, float]] = []
        bare: list[float] = []
        for _ in range(bench.repeats):
            ours.append(_drive(bench.subject, mode, connections, bench.seconds))
            if bench.bare is not None:
                bare.append(_drive(bench.bare, mode, connections, bench.seconds)["mib"])
        more = {"lists/s": ours[0]["per_second"]}
        yield Figure("lists", name, "MiB/s", [each["mib"] for each in ours], bare, more=more)


def _drive(target: Target, mode: str, connections: int, seconds: float) -> dict[str, float]:
    found = wrk.drive(target, mode, connections, seconds)
    return {**found, "mib": found["bytes_per_second"] / MIB}
