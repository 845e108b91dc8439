"""A disk that loses what was not synced: SQLite on a file system that remembers, and can be cut off at any moment.

    disk = Disk()
    journal = SQLiteJournal(directory, disk.connect)

Writes go to real files, so the running store sees nothing of it. Beside that `Disk` keeps what each file would hold if the power
failed now: what was synced, and of the rest whatever chance leaves — nothing, all, some writes, parts of writes, in any order.
It can also fail: a sync, a write that stops half way, a device that is full. Needs apsw.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import RLock
from typing import Any, cast

import apsw

SECTOR = 512


class _File:
    """What is durable of a file, and what was written since its last sync: (offset, data), or (size, None) for a truncation."""

    def __init__(self, content: bytes) -> None:
        self.durable = bytearray(content)
        self.pending: list[tuple[int, bytes | None]] = []

    def sync(self) -> None:
        for offset, data in self.pending:
            _apply(self.durable, offset, data)
        self.pending.clear()

    def after_cut(self, rng: random.Random) -> bytes:
        """What a power failure leaves."""
        left = bytearray(self.durable)
        mood = rng.choice(("nothing", "everything", "some", "some"))
        for offset, data in self.pending:
            if mood == "everything" or (mood == "some" and rng.random() < 0.6):
                _apply(left, offset, data)
            elif mood == "some" and data is not None and rng.random() < 0.5:
                sectors = rng.randrange(len(data) // SECTOR + 1)
                _apply(left, offset, data[: sectors * SECTOR])
        return bytes(left)


def _apply(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del content[offset:]
        return
    content.extend(bytes(max(0, offset - len(content))))
    content[offset : offset + len(data)] = data


class Disk:
    """See the module. `before()` is called in a store's thread before each write and sync, which `trace` lists."""

    def __init__(self) -> None:
        self.files: dict[str, _File] = {}
        self.trace: list[tuple[str, str]] = []
        self.before: Callable[[], None] = lambda: None
        self.syncs_fail = 0
        self.writes_stop = 0
        self.refusal: type[apsw.Error] | None = None
        self._lock = RLock()  # a store has two threads: one that writes, one that makes checkpoints
        self._system = _System(self)

    def connect(self, path: Path) -> sqlite3.Connection:
        """What `sqlite3.connect` is elsewhere."""
        return cast("sqlite3.Connection", _Connection(apsw.Connection(str(path), vfs=self._system.name)))

    def cut(self, rng: random.Random) -> dict[str, bytes]:
        """The files as a power failure at this moment leaves them, by their names."""
        with self._lock:
            return {Path(name).name: file.after_cut(rng) for name, file in self.files.items()}

    # ---- called by the files

    def will_write(self, name: str, offset: int, data: bytes) -> bytes:
        """What may be written of it, perhaps not all; raises what the device answers."""
        with self._lock:
            return self._will_write(name, offset, data)

    def _will_write(self, name: str, offset: int, data: bytes) -> bytes:
        self.before()
        if self.refusal is not None:
            raise self.refusal("refused")
        if self.writes_stop:
            self.writes_stop -= 1
            data = data[: len(data) // 2]
        self.trace.append(("write", name))
        self.files[name].pending.append((offset, data))
        return data

    def will_truncate(self, name: str, size: int) -> None:
        with self._lock:
            self.files[name].pending.append((size, None))

    def will_sync(self, name: str) -> None:
        with self._lock:
            self._will_sync(name)

    def _will_sync(self, name: str) -> None:
        self.before()
        if self.syncs_fail:
            self.syncs_fail -= 1
            raise _io_error(apsw.SQLITE_IOERR_FSYNC, "fsync failed")
        self.trace.append(("sync", name))
        self.files[name].sync()


def _io_error(code: int, text: str) -> Exception:
    error: Any = apsw.IOError(text)
    error.extendedresult = code
    return cast("Exception", error)


class _SystemFile(apsw.VFSFile):
    def __init__(self, disk: Disk, name: str, opened: Any, flags: list[int]) -> None:
        super().__init__("", opened, flags)
        self._disk = disk
        self._name = name

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802  SQLite's name
        allowed = self._disk.will_write(self._name, offset, bytes(data))
        super().xWrite(allowed, offset)
        if len(allowed) < len(data):
            raise _io_error(apsw.SQLITE_IOERR_WRITE, "short write")

    def xTruncate(self, size: int) -> None:  # noqa: N802  SQLite's name
        self._disk.will_truncate(self._name, size)
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802  SQLite's name
        self._disk.will_sync(self._name)
        super().xSync(flags)


class _System(apsw.VFS):
    """The file system under the name that connections ask for."""

    def __init__(self, disk: Disk) -> None:
        self.name = f"power-{id(disk)}"
        self._disk = disk
        super().__init__(self.name, "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802  SQLite's name
        path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        if path not in self._disk.files:
            existing = Path(path)
            self._disk.files[path] = _File(existing.read_bytes() if existing.exists() else b"")
        return _SystemFile(self._disk, path, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802  SQLite's name
        super().xDelete(name, sync)
        self._disk.files.pop(name, None)


class _Connection:
    """The part of `sqlite3.Connection` that the store uses, with its errors."""

    def __init__(self, inner: apsw.Connection) -> None:
        self._inner = inner

    @property
    def in_transaction(self) -> bool:
        return self._inner.in_transaction

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        try:
            return self._inner.execute(statement, values)
        except apsw.Error as error:
            raise sqlite3.OperationalError(str(error)) from error

    def close(self) -> None:
        self._inner.close()
