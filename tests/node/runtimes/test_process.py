"""The process runtime as root and as an ordinary user, under every isolation that the host gives."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("exercise.py")
SOURCE = Path(__file__).parents[3] / "src"
NOBODY = 65534


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory that any user may use."""
    with tempfile.TemporaryDirectory(prefix="setpoint-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder


def _as_nobody() -> list[str]:
    """The beginning of a command line that runs a Python with our packages as another user; [] where none can."""
    setpriv = shutil.which("setpriv")
    if os.geteuid() != 0 or setpriv is None:
        return []
    drop = [setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"]
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/bin/python{version}", "/usr/bin/python3"):
        # `env` in between: setpriv itself may still read what the other user may not
        command = [*drop, "env", python]
        probe = subprocess.run(
            [*command, "-c", "import setpoint.node.runtime"], env=_environment(), capture_output=True, check=False
        )
        if probe.returncode == 0:
            return command
    return []


def _environment() -> dict[str, str]:
    packages = [path for path in sys.path if "site-packages" in path]
    path = os.pathsep.join([str(SOURCE), *packages])
    return {"PYTHONPATH": path, "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/"}


def _run(python: list[str], folder: Path, isolation: str) -> dict[str, Any]:
    done = subprocess.run(
        [*python, str(SCRIPT), str(folder), isolation], env=_environment(), capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _check(found: dict[str, Any], isolation: str) -> None:
    if found["isolation"] != isolation:
        pytest.skip(f"this host gives {found['isolation']}, not {isolation}")
    assert found["address"].startswith("127.64.")
    assert found["exit"] == 3
    assert found["terminal"] == ["43 101\r\n", 0]
    assert found["attach"] == ["attached\n"]
    assert found["terminated"] == 143
    if isolation == "none":
        return
    assert found["log"] == ["secret", "secret", "read-only"]
    assert found["message"] == "end\n"
    assert found["exec"] == ["in\nsecret\n", 7]


@pytest.mark.parametrize("isolation", ["mounts", "none"])
def test_as_the_present_user(open_directory: Path, isolation: str) -> None:
    found = _run([sys.executable], open_directory, isolation)
    _check(found, isolation)
    assert found["missing"][0] == "StartError"
    assert "executable file not found in $PATH" in found["missing"][1]


@pytest.mark.parametrize("isolation", ["mounts", "bubblewrap", "none"])
def test_as_an_ordinary_user(open_directory: Path, isolation: str) -> None:
    python = _as_nobody()
    if not python:
        pytest.skip("no other user's Python can be run here")
    if isolation == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    found = _run(python, open_directory, isolation)
    assert found["uid"] == NOBODY
    _check(found, isolation)
