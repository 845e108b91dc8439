"""A user without rights, for tests that run as root: a throw-away uid, and a Python that it may read."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import setpoint
from setpoint.testing.real import Cluster, Kubectl

UID = 61234


class NoWay(Exception):
    """Why there is no such user here."""


@dataclass
class Someone:
    """How to run things as that user; `home` and `work` are writable for it."""

    prefix: Sequence[str]
    python: str
    home: Path
    work: Path

    def cluster(self, *arguments: str, name: str = "data") -> Cluster:
        return Cluster(self.work / name, ["--port", "0", *arguments], prefix=self.prefix, python=self.python)

    def kubectl(self, cluster: Cluster) -> Kubectl:
        return Kubectl(cluster.kubeconfig, self.home, prefix=self.prefix)


@contextmanager
def someone() -> Iterator[Someone]:
    """The user, until the end of the block; raises NoWay."""
    base = Path(tempfile.mkdtemp(prefix="setpoint-"))
    try:
        yield _ourselves(base) if os.geteuid() else _other(base)
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _ourselves(base: Path) -> Someone:
    return Someone((), sys.executable, base, base)


def _other(base: Path) -> Someone:
    if shutil.which("setpriv") is None:
        raise NoWay("setpriv is not installed")
    base.chmod(0o755)
    for name in ("home", "work"):
        (base / name).mkdir(mode=0o700)
        os.chown(base / name, UID, UID)
    interpreter = _readable(Path(sys.base_prefix), base / "python")
    libraries = _readable(Path(sysconfig.get_path("purelib")), base / "libraries")
    sources = _readable(Path(setpoint.__file__).parent.parent, base / "sources")
    prefix = (
        *("setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--inh-caps=-all", "--no-new-privs", "env"),
        *(f"HOME={base / 'home'}", f"LD_LIBRARY_PATH={interpreter / 'lib'}", f"PYTHONPATH={sources}:{libraries}"),
    )
    python = str(interpreter / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}")
    command = [*prefix, python, "-c", "import setpoint.cli.main, aiohttp"]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    if tried.returncode:
        raise NoWay(f"Python cannot be run by another user: {tried.stderr.strip().splitlines()[-1]}")
    return Someone(prefix, python, base / "home", base / "work")


def _readable(tree: Path, copy: Path) -> Path:
    """The tree if everyone may go there, else a copy made of links."""
    if all(stat.S_IMODE(step.stat().st_mode) & 0o005 == 0o005 for step in [tree, *tree.parents]):
        return tree
    parts = (Path("bin"), Path("lib")) if (tree / "bin").is_dir() else (Path(),)
    for part in parts:
        shutil.copytree(tree / part, copy / part, symlinks=True, copy_function=_link, ignore=_unneeded, dirs_exist_ok=True)
    return copy


def _unneeded(folder: str, names: list[str]) -> set[str]:
    """What Python runs without: other packages (ours come from elsewhere), tests, documents."""
    top = Path(folder).name.startswith("python")
    return {name for name in names if name.startswith("config-") or (top and name in ("site-packages", "test", "idlelib"))}


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
