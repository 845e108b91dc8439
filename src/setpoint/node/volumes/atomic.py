"""The atomic writer: all files of a volume change at once, for every reader.

    ..2026_11_30_02_40_01.123456/key   the data            ..data -> ..2026_11_30_02_40_01.123456
    key -> ..data/key                  what users see

Source of the layout: kubelet's AtomicWriter, which programs that watch mounted ConfigMaps rely on.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Mapping
from typing import NamedTuple

DATA = "..data"


class File(NamedTuple):
    """One file's content and permission bits."""

    content: bytes
    mode: int


class Owner(NamedTuple):
    """A user and a group of the host; -1 leaves who makes a file its owner."""

    uid: int = -1
    gid: int = -1

    @property
    def shared(self) -> bool:
        """Whether the files are a group's."""
        return self.gid >= 0

    def give(self, path: str) -> None:
        if self != NOBODYS:
            os.chown(path, self.uid, self.gid)

    def mode(self, wanted: int) -> int:
        """A group that was given files may read them, as kubelet does it for `fsGroup`."""
        return wanted | 0o440 if self.shared else wanted


NOBODYS = Owner()


class UnsafePath(ValueError):
    """A path that would lead out of the volume."""


def check_path(path: str) -> str:
    """`path` if it stays inside; raises UnsafePath for one that is empty, absolute, or goes up."""
    parts = path.split("/")
    if not path or os.path.isabs(path) or ".." in parts or parts[0].startswith("..") or len(path) > 4096:
        raise UnsafePath(f"invalid path: {path!r} must be relative and stay inside the volume")
    return os.path.normpath(path)


def write(folder: str, payload: Mapping[str, File], owner: Owner = NOBODYS) -> bool:
    """Make `folder` hold exactly `payload` (by relative path); tells whether anything changed."""
    payload = {check_path(path): file._replace(mode=owner.mode(file.mode)) for path, file in payload.items()}
    os.makedirs(folder, mode=0o755, exist_ok=True)
    link = os.path.join(folder, DATA)
    old = _data_of(folder)
    if old and _same(old, payload):
        _links(folder, {path.split("/")[0] for path in payload})  # who wrote it may have been killed before the links
        return False
    fresh = _write_data(folder, payload, owner)
    temporary = os.path.join(folder, "..data_tmp")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary)
    os.symlink(os.path.basename(fresh), temporary)
    os.replace(temporary, link)
    _links(folder, {path.split("/")[0] for path in payload})
    if old:
        shutil.rmtree(old, ignore_errors=True)
    return True


def _data_of(folder: str) -> str:
    """Where `..data` points to; "" without one. A link that is not ours never leads out of the folder."""
    link = os.path.join(folder, DATA)
    name = os.path.basename(os.readlink(link)) if os.path.islink(link) else ""
    return "" if name in {"", ".", ".."} else os.path.join(folder, name)


def written(folder: str) -> bool:
    """Whether `write` was here before."""
    return os.path.islink(os.path.join(folder, DATA))


def _write_data(folder: str, payload: Mapping[str, File], owner: Owner) -> str:
    now = time.time_ns()
    stamp = time.strftime("%Y_%m_%d_%H_%M_%S", time.gmtime(now // 1_000_000_000))
    fresh = os.path.join(folder, f"..{stamp}.{now % 1_000_000_000:09d}")
    os.mkdir(fresh)
    os.chmod(fresh, 0o755)  # noqa: S103  # containers may run as another user
    for path, file in payload.items():
        place = os.path.join(fresh, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as handle:
            handle.write(file.content)
        owner.give(place)
        os.chmod(place, file.mode)
    return fresh


def _links(folder: str, wanted: set[str]) -> None:
    for name in wanted:
        place = os.path.join(folder, name)
        if not os.path.islink(place):
            os.symlink(os.path.join(DATA, name), place)
    for name in os.listdir(folder):
        if not name.startswith("..") and name not in wanted:
            os.unlink(os.path.join(folder, name))


def _same(folder: str, payload: Mapping[str, File]) -> bool:
    found = {os.path.relpath(os.path.join(place, name), folder) for place, _, names in os.walk(folder) for name in names}
    if found != set(payload):
        return False
    for path, file in payload.items():
        place = os.path.join(folder, path)
        if os.stat(place).st_mode & 0o777 != file.mode & 0o777:
            return False
        with open(place, "rb") as handle:
            if handle.read() != file.content:
                return False
    return True
