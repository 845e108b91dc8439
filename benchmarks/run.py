"""`make bench`: what Setpoint costs, beside the bare stack, in one run on this machine.

    python benchmarks/run.py [--only requests,lists] [--quick] [--repeats 3] [--seconds 3] [--plots FOLDER] [--markdown]
    python benchmarks/run.py --only scheduling --whole                 up to 20,000 pods on 5,000 nodes
    python benchmarks/run.py --server https://host:6443 --token T      any other Kubernetes API server in Setpoint's place

Both servers are up at the same time and take turns, so that the ratios mean something on a busy machine too.
Prints a table and writes `benchmarks/results/latest.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import report, scenarios, servers
from benchmarks.scenarios import Bench
from benchmarks.target import Target

RESULTS = Path(__file__).parent / "results" / "latest.json"


@contextmanager
def benches(options: argparse.Namespace, names: list[str]) -> Iterator[Bench]:
    """Whatever the scenarios need, up and seeded."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="setpoint-bench-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        common = (options.repeats, options.seconds, options.quick, options.whole)
        both = bool(set(names) & set(scenarios.ELSEWHERE) - {"deployment"})
        bare = stack.enter_context(servers.bare(folder / "bare")) if both else None
        if options.server:
            subject: Target = Target(options.server, options.token)
        elif both:
            subject = stack.enter_context(servers.setpoint(folder / "subject")[0])
        else:
            subject = Target("", "")
        for target in (bare, subject) if both else ():
            if target is not None:
                target.seed()
        yield Bench(subject, bare, None if options.server else folder, *common)


def measure(options: argparse.Namespace, names: list[str]) -> dict[str, Any]:
    """Run the scenarios, telling each figure as it comes."""
    about: dict[str, Any] = {"cores": os.cpu_count(), "python": platform.python_version(), "load_before": os.getloadavg()[0]}
    figures: list[report.Figure] = []
    with benches(options, names) as bench:
        for name in names:
            for figure in scenarios.scenario(name)(bench):
                figures.append(figure)
                print(f"  … {figure.name}: {figure.ours[0]:,.4g} {figure.unit}", file=sys.stderr, flush=True)
    about["load_after"] = os.getloadavg()[0]
    print(f"{about['cores']} cores, Python {about['python']}, load {about['load_before']:.1f} to {about['load_after']:.1f}")
    print("\n".join(report.markdown(figures) if options.markdown else report.table(figures)))
    return {"machine": about, "figures": [each.as_json() for each in figures]}


def parsed() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(description="Figures beside the bare stack's.")
    parser.add_argument("--only", help=f"some of {', '.join(scenarios.ALL)}, with commas between")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything works")
    parser.add_argument("--whole", action="store_true", help="the sizes that the goals of scheduling are about; takes long")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3, help="length of each load")
    parser.add_argument("--server", help="URL of a Kubernetes API server to measure in Setpoint's place")
    parser.add_argument("--token", default="", help="bearer token of a user who may do everything there")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--plots", type=Path, help="draw the plots into this folder (SVG)")
    options = parser.parse_args()
    asked = options.only.split(",") if options.only else [*scenarios.ALL]
    chosen = sorted(asked, key=[*scenarios.ALL, *asked].index)
    if unknown := set(chosen) - set(scenarios.ALL):
        parser.error(f"unknown scenario: {', '.join(sorted(unknown))}")
    if options.server:
        chosen = [each for each in chosen if each in scenarios.ELSEWHERE]
    return options, chosen


def main() -> None:
    options, names = parsed()
    if shutil.which("wrk") is None:
        sys.exit("wrk is missing: apt-get install wrk")
    found = measure(options, names)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(found, indent=2) + "\n")
    print(f"written: {RESULTS}")
    if options.plots:
        from benchmarks import plots

        for path in plots.draw(found["figures"], options.plots):
            print(f"drawn: {path}")


if __name__ == "__main__":
    main()
