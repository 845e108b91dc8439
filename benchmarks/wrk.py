"""wrk as a load generator: the next request when the last is answered, over one thread."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

from benchmarks.target import Target

SCRIPT = Path(__file__).parent / "load.lua"


def drive(target: Target, mode: str, connections: int, seconds: float) -> dict[str, float]:
    """One run of wrk: requests per second, latencies in milliseconds, errors, bytes per second, and the processor time that each
    request took in the server (what a busy machine changes least).
    """
    before = target.processor_seconds()
    tag = f"{mode}{connections}-{time.monotonic_ns()}"
    load = ["-t1", f"-c{connections}", f"-d{seconds:g}s", "--timeout", "10s"]
    command = ["wrk", *load, "-s", str(SCRIPT), target.url, "--", mode, target.token, tag]
    output = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 30, check=True).stdout
    line = next(each for each in output.splitlines() if each.startswith("JSON "))
    found: dict[str, float] = json.loads(line[5:])
    spent = target.processor_seconds() - before
    found["per_second"] = found["requests"] / found["seconds"]
    found["bytes_per_second"] = found["bytes"] / found["seconds"]
    found["cpu_us"] = 1e6 * spent / max(found["requests"], 1)
    return found
