"""How cost grows with what is there: processor time of a GET, a create and a page of 500, with 1,000 to 64,000 ConfigMaps."""

from __future__ import annotations

import time
from collections.abc import Iterator

import uvloop
from benchmarks import wrk
from benchmarks.report import Figure
from benchmarks.scenarios import Bench
from benchmarks.scenarios.memory import fill
from benchmarks.target import COLLECTION, config_map

SIZES = (1_000, 4_000, 16_000, 64_000)
LOADS = {"get": ("GET one", 16), "create": ("create", 16), "list": ("LIST limit=500", 4)}


def run(bench: Bench) -> Iterator[Figure]:
    server, _ = bench.start("size")
    with server:
        server.seed()
        there = 0
        for size in SIZES[:2] if bench.quick else SIZES:
            uvloop.run(fill(server, COLLECTION, lambda name: config_map(f"{name}-{time.monotonic_ns()}"), size - there))
            there = size
            for mode, (title, connections) in LOADS.items():
                runs = [wrk.drive(server, mode, connections, bench.seconds) for _ in range(bench.repeats)]
                there += int(sum(each["requests"] for each in runs)) if mode == "create" else 0
                more = {"objects": float(size), "MiB": server.resident_mib()}
                yield Figure("size", f"{title}, {size:,} objects", "µs", [each["cpu_us"] for each in runs], more=more)
