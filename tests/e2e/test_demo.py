"""`make demo`: every step of the chain is shown, and nothing is left."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import psutil


def test_the_demonstration_ends_well_and_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "setpoint", "demo"],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
        env={"TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    said = done.stdout
    assert done.returncode == 0, said + done.stderr
    for line in (
        r"✓ ready in \d+\.\d\d s",
        r"Deployment controller → ReplicaSet web-\w+, 3 replicas",
        r"ReplicaSet controller → pod web-\w+-\w+",
        r"scheduler → pod web-\w+-\w+ bound to node-\d",
        r"node agent → pod web-\w+-\w+ Running at (127|10)\.",
        r"✓ 3 pods declared, 3 processes run",
        r"✓ pod \S+ is process \d+ now, after \d\.\d\d s; restartCount is 1",
        r"✓ 5 pods run, ",
        r"✓ every process runs version v2; at the lowest [45] were available",
        r"node-\d is NotReady",
        r"✓ 5 pods run again without node-\d",
        r"✓ node-\d is Ready; what was left of its old pods is gone, and exactly 5 pods are there",
        r"✓ no pod, no process is left",
        r"✓ every part has ended",
    ):
        assert re.search(line, said), f"{line}\n{said}"
    assert [found.cmdline() for found in psutil.process_iter() if _of(found, str(tmp_path))] == []
    assert list(tmp_path.iterdir()) == []


def _of(process: psutil.Process, folder: str) -> bool:
    try:
        return any(folder in word for word in (*process.cmdline(), *process.environ().values()))
    except (psutil.Error, OSError):
        return False
