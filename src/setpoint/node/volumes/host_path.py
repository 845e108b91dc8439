"""hostPath volumes: checks by type, and making what is missing where the type says so."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from setpoint.node.volumes.payload import VolumeError

_CHECKS: dict[str, tuple[Callable[[int], bool], str]] = {
    "Directory": (stat.S_ISDIR, "directory"),
    "File": (stat.S_ISREG, "file"),
    "Socket": (stat.S_ISSOCK, "socket file"),
    "CharDevice": (stat.S_ISCHR, "character device"),
    "BlockDevice": (stat.S_ISBLK, "block device"),
}


def prepare(path: str, kind: str) -> str:
    """The path to bind; raises VolumeError when it is not what `kind` asks for."""
    if kind == "DirectoryOrCreate" and not os.path.exists(path):
        os.makedirs(path, mode=0o755)
    elif kind == "FileOrCreate" and not os.path.exists(path):
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    elif not kind and not os.path.exists(path):
        os.makedirs(path, mode=0o755)  # container runtimes make a missing bind source
    wanted = kind.removesuffix("OrCreate")
    if wanted in _CHECKS:
        check, word = _CHECKS[wanted]
        if not os.path.exists(path) or not check(os.stat(path).st_mode):
            raise VolumeError(f"hostPath type check failed: {path} is not a {word}")
    return path
