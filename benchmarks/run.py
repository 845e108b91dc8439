"""`make bench`: how fast Setpoint starts, what it costs idle, and how its request rates compare with the bare stack's.

    python benchmarks/run.py [--seconds 4] [--starts 3] [--idle 20] [--only requests|start]

Both servers run one after the other on this machine, driven by wrk on loopback with the same requests, so that the ratios mean
something on a busy machine too. Prints a table, writes `benchmarks/results/latest.json`. Under four minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import fan_out, servers

RESULTS = Path(__file__).parent / "results" / "latest.json"
#: what wrk drives: mode of load.lua, connections
LOADS = (("get", 1), ("get", 16), ("list", 4), ("patch", 16), ("apply", 16), ("create", 1), ("create", 16), ("create", 64))
_SETTLE = 6.0  # seconds after which a start is over, the imports in its wake included
#: what the project aims at, on a quiet machine of two cores that it shares with the load generator
GOALS = {"get 16": 12_000, "create 16": 3_500}


def wrk(url: str, mode: str, connections: int, seconds: float) -> dict[str, float]:
    """One run of wrk with one thread."""
    script = str(Path(__file__).parent / "load.lua")
    tag = f"{mode}{connections}-{time.monotonic_ns()}"
    command = [
        "wrk",
        "-t1",
        f"-c{connections}",
        f"-d{seconds:g}s",
        "--timeout",
        "10s",
        "-s",
        script,
        url,
        "--",
        mode,
        servers.TOKEN,
        tag,
    ]
    output = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 30, check=True).stdout
    line = next(each for each in output.splitlines() if each.startswith("JSON "))
    found: dict[str, float] = json.loads(line[5:])
    return {"per_second": round(found["requests"] / found["seconds"], 1), **found}


def requests(server: servers.Server, seconds: float) -> dict[str, dict[str, float]]:
    """Every load against one server."""
    server.seed()
    wrk(server.url, "get", 16, 1)  # what is done once is done
    found = {f"{mode} {connections}": _driven(server, mode, connections, seconds) for mode, connections in LOADS}
    found["watch 100"] = fan_out.run(server.url, servers.TOKEN)
    return found


def _driven(server: servers.Server, mode: str, connections: int, seconds: float) -> dict[str, float]:
    """A load, with the processor time that each request took in the server: what a busy machine changes least."""
    before = server.processor_seconds()
    found = wrk(server.url, mode, connections, seconds)
    spent = server.processor_seconds() - before
    return {**found, "cpu_us": round(1e6 * spent / max(found["requests"], 1), 1)}


def starts(folder: Path, count: int) -> dict[str, Any]:
    """Medians of several starts, each on a fresh data directory and once more on the same."""
    found: dict[str, list[servers.Start]] = {"fresh": [], "second": []}
    for number in range(count):
        for which in ("fresh", "second"):
            server, start = servers.setpoint(folder / f"start-{number}")
            with server:
                found[which].append(start)
    return {which: _medians(each) for which, each in found.items()}


def _medians(found: list[servers.Start]) -> dict[str, float]:
    return {name: round(statistics.median(getattr(each, name) for each in found), 3) for name in ("readyz", "node_ready", "said")}


def measure(options: argparse.Namespace) -> dict[str, Any]:
    report: dict[str, Any] = {"machine": machine()}
    folder = Path(tempfile.mkdtemp(prefix="setpoint-bench-"))
    try:
        if options.only != "requests":
            report["start"] = starts(folder, options.starts)
            server, _ = servers.setpoint(folder / "idle")
            with server:
                time.sleep(_SETTLE)
                report["idle"] = server.idle(options.idle)
        if options.only != "start":
            (folder / "bare").mkdir()
            with servers.bare(folder / "bare") as server:
                report["bare"] = requests(server, options.seconds)
            server, _ = servers.setpoint(folder / "load")
            with server:
                report["setpoint"] = requests(server, options.seconds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report["machine"]["load_after"] = os.getloadavg()[0]
    return report


def machine() -> dict[str, Any]:
    return {"cores": os.cpu_count(), "python": platform.python_version(), "load_before": os.getloadavg()[0]}


def table(report: dict[str, Any]) -> list[str]:
    """The report as lines for people."""
    about = report["machine"]
    load = f"load {about['load_before']:.1f} before, {about['load_after']:.1f} after"
    lines = [f"{about['cores']} cores, Python {about['python']}, {load}"]
    for which, found in report.get("start", {}).items():
        times = f"/readyz {found['readyz']:.2f} s, node Ready {found['node_ready']:.2f} s, said {found['said']:.2f} s"
        lines.append(f"{which} start: {times}")
    if idle := report.get("idle"):
        lines.append(f"idle: {idle['rss_mib']} MiB resident, {idle['cpu_percent']} % of a core")
    if "setpoint" in report:
        lines += ["µs: processor time of the server for one request", _columns(_HEAD)]
        lines += [_columns(_row(name, report["bare"][name], ours)) for name, ours in report["setpoint"].items()]
    return lines


_HEAD = ("load", "bare/s", "ours/s", "ratio", "bare µs", "ours µs", "p50 ms", "p99 ms", "errors", "goal/s")


def _columns(cells: tuple[Any, ...]) -> str:
    return f"{cells[0]:<12}" + "".join(f"{cell:>9}" for cell in cells[1:])


def _row(name: str, bare: dict[str, float], ours: dict[str, float]) -> tuple[Any, ...]:
    if "events_per_second" in ours:
        pair = bare["events_per_second"], ours["events_per_second"]
        return (name, *pair, f"{pair[1] / pair[0]:.2f}")
    rates = round(bare["per_second"]), round(ours["per_second"]), f"{ours['per_second'] / bare['per_second']:.2f}"
    costs = round(bare["cpu_us"]), round(ours["cpu_us"])
    waits = f"{ours['p50_ms']:.2f}", f"{ours['p99_ms']:.2f}"
    return (name, *rates, *costs, *waits, int(ours["errors"]), GOALS.get(name, ""))


def main() -> None:
    parser = argparse.ArgumentParser(description="Figures beside the bare stack's.")
    parser.add_argument("--seconds", type=float, default=4, help="length of each load")
    parser.add_argument("--starts", type=int, default=3, help="how many starts to take the median of")
    parser.add_argument("--idle", type=float, default=20, help="seconds to watch it idle")
    parser.add_argument("--only", choices=("requests", "start"))
    options = parser.parse_args()
    if shutil.which("wrk") is None and options.only != "start":
        sys.exit("wrk is missing: apt-get install wrk")
    report = measure(options)
    print("\n".join(table(report)))
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(report, indent=2) + "\n")
    print(f"written: {RESULTS}")


if __name__ == "__main__":
    main()
