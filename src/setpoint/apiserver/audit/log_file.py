"""The audit log's file: it has mode 0600; when it would grow beyond its size it is renamed to `<name>-<time>.<ext>` and begun
anew; old ones go by number and by age.

Source: apiserver `plugin/pkg/audit/log`, and the library lumberjack, for names.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

_DEFAULT_SIZE = 100  # MiB
_DAY = 86_400.0
_STANDARD_OUTPUT = 1


class Rotation(Struct, frozen=True):
    """`megabytes` per file (0: a hundred), so many old files, none older than so many `days` (0: no limit)."""

    megabytes: int = 0
    backups: int = 0
    days: int = 0


def opened(path: str) -> int:
    """A descriptor to append to the file, which is closed to others from now on; raises OSError. Of `-`: standard output's."""
    if path == "-":
        return os.dup(_STANDARD_OUTPUT)
    Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return _appending(Path(path))


class LogFile:
    """A file that another process `opened`. Whoever has it waits for the disk."""

    def __init__(self, path: str, rotation: Rotation, descriptor: int) -> None:
        self._path = Path(path)
        self._rotation = rotation
        self._limit = (rotation.megabytes or _DEFAULT_SIZE) * 1024 * 1024
        self._file = descriptor
        self._is_plain = path != "-" and stat.S_ISREG(os.fstat(descriptor).st_mode)  # no device and no pipe: they are not rotated
        self._is_torn = False  # its last line

    def append(self, data: bytes) -> None:
        """Write whole lines; raises OSError, and leaves no half of a line where that can be helped."""
        size = os.fstat(self._file).st_size
        rotates = self._is_plain and size > 0 and size + len(data) > self._limit
        if rotates:
            self._rotate()
            size = 0
        view = memoryview(b"\n" + data if self._is_torn else data)
        try:
            while view:
                view = view[os.write(self._file, view) :]
        except OSError:
            self._is_torn = True
            if self._is_plain:
                os.ftruncate(self._file, size)
                self._is_torn = False
            raise
        self._is_torn = False
        if rotates:
            with suppress(OSError):  # they go another time
                self._remove_old()

    def close(self) -> None:
        os.close(self._file)

    def _rotate(self) -> None:
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S.%f")[:-3]
        path = self._path
        with suppress(FileNotFoundError):  # somebody took it away, or the new one could not be made the last time
            path.rename(path.with_name(f"{path.stem}-{at}{path.suffix}"))
        before, self._file = self._file, _appending(path)
        os.close(before)

    def _remove_old(self) -> None:
        path = self._path
        old = sorted(path.parent.glob(f"{path.stem}-*T*{path.suffix}"), reverse=True)
        oldest = time.time() - self._rotation.days * _DAY
        for number, backup in enumerate(old):
            too_many = self._rotation.backups and number >= self._rotation.backups
            if too_many or (self._rotation.days and backup.stat().st_mtime < oldest):
                backup.unlink(missing_ok=True)


def _appending(path: Path) -> int:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    mode = os.fstat(file).st_mode
    if stat.S_IMODE(mode) & 0o077 and stat.S_ISREG(mode):
        os.fchmod(file, 0o600)
    return file
