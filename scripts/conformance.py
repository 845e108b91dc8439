"""Replay recorded conversations with a real Kubernetes against our server, and write the table in docs/conformance.md.

    python scripts/conformance.py [--write] [--failures DIR] [FILE …]

The recordings lie in `$GOLDEN` or `../shared/golden`; FILE is a name without its ending (`core-pod`). `--failures` writes what
differs, a file per recording. `--write` rewrites the table. Exit code 2 when there are no recordings.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = Path(os.environ.get("GOLDEN") or ROOT.parent / "shared" / "golden")
TABLE = ROOT / "docs" / "conformance.md"
FILES = (
    "core-pod",
    "core",
    "groups-workloads",
    "groups-other",
    "write-patch",
    "write-apply",
    "write-rest",
    "read",
    "read-tables",
    "read-discovery",
    "crd-schema",
    "crd-behaviour",
    "access-auth",
    "access-admission",
    "controllers-rollout",
    "controllers-batch",
    "controllers-rest",
    "scheduler",
)
BEGIN, END = "<!-- begin table -->", "<!-- end table -->"


@dataclass(frozen=True, slots=True)
class Score:
    """How one recording came out: `agree` cases of `cases`, `exact` of them to the letter of every message."""

    name: str
    cases: int
    agree: int
    exact: int
    seconds: float


class Server:
    """`setpoint up --nodes 0` as the recordings' reference server was started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = (folder / "log").open("w")
        command = [sys.executable, "-m", "setpoint", "up", "--data-dir", str(folder / "data"), "--port", "0", "--nodes", "0"]
        command += ["--token-auth-file", str(GOLDEN / "tokens.csv")]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while "ready in" not in (folder / "log").read_text():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit((folder / "log").read_text())
            time.sleep(0.05)

    @property
    def url(self) -> str:
        return (self.folder / "data" / "run" / "address").read_text().strip()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)
        self.log.close()


def replay(server: Server, name: str, failures: Path | None) -> Score:
    """Replay one recording."""
    started = time.monotonic()
    command = [sys.executable, str(GOLDEN / "replay.py"), "--server", server.url, "--token", "tok-admin", "--json"]
    done = subprocess.run([*command, str(GOLDEN / f"{name}.cases.yaml")], capture_output=True, text=True, check=False)
    rows: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if not rows:
        raise SystemExit(f"{name}: the replay failed\n{done.stderr}")
    if failures is not None:
        failures.mkdir(parents=True, exist_ok=True)
        with (failures / f"{name}.txt").open("w") as file:
            for row in rows:
                differences = [*row["diffs"], *(f"(message) {text}" for text in row["message_diffs"])]
                if differences:
                    file.write(f"{'FAIL' if not row['ok'] else 'message'}: {row['case']}\n")
                    file.writelines(f"    {text}\n" for text in differences[:15])
    agree = [row for row in rows if row["ok"]]
    exact = [row for row in agree if not row["message_diffs"]]
    return Score(name, len(rows), len(agree), len(exact), time.monotonic() - started)


def table(scores: list[Score]) -> str:
    """The Markdown table with its sum."""
    cases, agree, exact = (sum(getattr(score, key) for score in scores) for key in ("cases", "agree", "exact"))
    total = Score("all", cases, agree, exact, 0)
    lines = ["| recording | cases | agree | | to the letter | |", "|---|---:|---:|---:|---:|---:|"]
    for score in [*scores, total]:
        shares = (f"{100 * part / score.cases:.0f} %" for part in (score.agree, score.exact))
        first, second = shares
        lines.append(f"| {score.name} | {score.cases} | {score.agree} | {first} | {score.exact} | {second} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", default=FILES)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--failures", type=Path)
    chosen = parser.parse_args()
    if not (GOLDEN / "replay.py").exists():
        print(f"no recordings at {GOLDEN}: set GOLDEN", file=sys.stderr)
        return 2
    scores = []
    with tempfile.TemporaryDirectory(prefix="setpoint-conformance-") as folder:
        server = Server(Path(folder))
        try:
            for name in chosen.files:
                scores.append(replay(server, name, chosen.failures))
                print(f"{scores[-1].name}: {scores[-1].agree} of {scores[-1].cases} in {scores[-1].seconds:.0f} s", flush=True)
        finally:
            server.stop()
    print(table(scores))
    if chosen.write:
        head, _, rest = TABLE.read_text().partition(BEGIN)
        TABLE.write_text(f"{head}{BEGIN}\n{table(scores)}\n{END}{rest.partition(END)[2]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
