"""What 1,000 simulated nodes cost that only say that they are alive (a Lease each ten seconds), in per cent of a core."""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks.report import Figure
from benchmarks.scenarios import Bench

NODES = 1000
GOAL = 25.0


def run(bench: Bench) -> Iterator[Figure]:
    nodes, seconds = bench.size(NODES, 100), bench.size(60, 10)
    server, start = bench.start("heartbeats", nodes=nodes, options=("--runtime", "simulated"))
    with server:
        time.sleep(bench.size(20, 5))  # the start and its wake are over
        shares = [server.processor_share(seconds) for _ in range(bench.repeats)]
        more = {"all Ready after s": start.node_ready, "MiB": server.resident_mib()}
    name = f"{nodes:,} nodes' heartbeats"
    yield Figure("heartbeats", name, "% of a core", shares, goal=GOAL, less_is_better=True, more=more)
