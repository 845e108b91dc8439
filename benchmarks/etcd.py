"""The API server alone on SQLite, on one member of etcd and on three, in turns on the same machine.

    python benchmarks/etcd.py [--seconds 3] [--repeats 3]

Beside each rate stands the processor time that a request took in the API server; etcd's own comes on top.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from setpoint.testing import etcd

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import servers, wrk

LOADS = [(mode, connections) for mode in ("create", "patch", "get") for connections in (1, 16, 64)]


def measure(seconds: float, repeats: int) -> dict[str, dict[tuple[str, int], list[dict[str, float]]]]:
    """Every load on every store, by the store's name."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        stores = {"SQLite": "sqlite"}
        for size in (1, 3):
            stores[f"etcd, {size} member{'s' if size > 1 else ''}"] = running.enter_context(
                etcd.running(Path(folder) / f"etcd-{size}", size)
            ).store
        subjects = {}
        for number, (name, store) in enumerate(stores.items()):
            options = ("--only", "apiserver", "--store", store)
            subjects[name] = running.enter_context(servers.setpoint(Path(folder) / str(number), nodes=0, options=options)[0])
        found: dict[str, dict[tuple[str, int], list[dict[str, float]]]] = {
            name: {load: [] for load in LOADS} for name in subjects
        }
        for subject in subjects.values():
            subject.seed()
            wrk.drive(subject, "get", 16, 1)
        for load in LOADS:
            for _ in range(repeats):
                for name, subject in subjects.items():
                    found[name][load].append(wrk.drive(subject, *load, seconds))
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Rates on SQLite and on etcd.")
    parser.add_argument("--seconds", type=float, default=3, help="length of each load")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    found = measure(options.seconds, options.repeats)
    print(f"| what | {' | '.join(found)} |")
    print(f"|---|{'---:|' * len(found)}")
    for mode, connections in LOADS:
        cells = [_cell(rates[mode, connections]) for rates in found.values()]
        print(f"| {mode}, {connections} connections | {' | '.join(cells)} |")


def _cell(runs: list[dict[str, float]]) -> str:
    rate, p99, cpu = (statistics.median(run[key] for run in runs) for key in ("per_second", "p99_ms", "cpu_us"))
    errors = sum(run["errors"] for run in runs)
    return f"{rate:,.0f}/s (p99 {p99:.0f} ms, {cpu:.0f} µs)" + (f" {errors:.0f} ERRORS" if errors else "")


if __name__ == "__main__":
    main()
