"""The schema packs are in what is built: a wheel, and an editable install."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKS = {f"1.{minor}.pack" for minor in range(25, 38)} | {"descriptions.pack"}
FOLDER = "setpoint/api/machinery/schema/packs"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a build reads, without packs."""
    copy = tmp_path_factory.mktemp("project")
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for part in ("__init__.py", "api", "kit"):
        source, target = ROOT / "src/setpoint" / part, copy / "src/setpoint" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("packs", "__pycache__"))
        else:
            shutil.copy(source, target)
    return copy


def build(project: Path, target: str) -> zipfile.ZipFile:
    folder = project / "dist" / target.replace(":", "-")
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=project, check=True, capture_output=True, timeout=100)
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def test_the_wheel_holds_the_packs_and_works(project: Path, tmp_path: Path) -> None:
    with build(project, "wheel") as wheel:
        assert {name.rpartition("/")[2] for name in wheel.namelist() if name.startswith(FOLDER)} == PACKS
        assert f"{FOLDER.removesuffix('packs')}presence.txt" in wheel.namelist()
        wheel.extractall(tmp_path)
    script = (
        "from setpoint.api.machinery.schema import trees; print(trees.load().tree('io.k8s.api.core.v1.Pod').kind, trees.__file__)"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    shown = subprocess.run(
        [sys.executable, "-c", script], env=environment, check=True, capture_output=True, text=True, cwd=tmp_path
    )
    assert shown.stdout.startswith("object ")
    assert str(tmp_path) in shown.stdout


def test_an_editable_install_has_the_packs(project: Path) -> None:
    shutil.rmtree(project / "src" / FOLDER, ignore_errors=True)
    with build(project, "wheel:editable") as wheel:
        paths = [wheel.read(name).decode() for name in wheel.namelist() if name.endswith(".pth")]
    assert str(project / "src") in "".join(paths)
    assert {path.name for path in (project / "src" / FOLDER).iterdir()} == PACKS
