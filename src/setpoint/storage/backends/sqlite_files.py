"""The files of a SQLite store: who may use them, and what damage shows before SQLite opens them.

SQLite repairs silently: an empty file is a new database, a log that is missing is an empty log, and of a log with a broken frame
it keeps what stands before that. Each of these would lose acknowledged writes without a word, so they are looked for here:

- the lock file remembers that there was data, so a database that is missing or empty is not taken for a new one;
- the index of the log (`-shm`) counts the frames that were synced before their writes were acknowledged. It outlives a killed
  process, and is only brought forward after a sync, so a log with fewer readable frames than it says has been damaged.

Layout of the index: https://www.sqlite.org/walformat.html#wal_index_format. Reading it costs 100 bytes.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import struct
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from msgspec import Struct

from setpoint.storage.journal import Row
from setpoint.storage.protocol import StoreError

FILE = "setpoint.db"
LOCK = "lock"
_USED = "used"
_INDEX = struct.Struct("=IIIBBHII8s8s8s")
_BACKFILLED = 96
_LOG_HEADER = 32


def advice(directory: Path) -> str:
    """What to do about damage."""
    return f"restore a snapshot with `setpoint snapshot restore FILE --data-dir {directory.parent} --force`"


def checksum(revision: int, key: str, created: int, value: bytes | None) -> int:
    """Kept with each row: SQLite's own pages have none, and a flipped bit in a value would be served as it is."""
    return zlib.crc32(value or b"", zlib.crc32(key.encode(), (revision ^ created) & 0xFFFFFFFF))


def verified(rows: Iterable[tuple[Any, ...]]) -> tuple[list[Row], list[str]]:
    """Rows without their checksums, and the keys of those that do not have it; 0 was written before there were any."""
    kept: list[Any] = []
    damaged = []
    for row in rows:
        revision, key, created, _, value, expected = row
        # As in `checksum`, without the cost of a call: this runs for every row before a server is ready.
        if expected and zlib.crc32(value or b"", zlib.crc32(key.encode(), (revision ^ created) & 0xFFFFFFFF)) != expected:
            damaged.append(key)
        kept.append(row[:5])
    return kept, damaged


class LogIndex(NamedTuple):
    """What the index of the log says: how many frames count, how many of them are in the database too."""

    frames: int
    copied: int
    salts: bytes


class StoreFiles(Struct):
    """The directory of one store, and the lock on it while it is held."""

    directory: Path
    lock: int = -1
    used: bool = False

    @property
    def database(self) -> Path:
        return self.directory / FILE

    def beside(self, suffix: str) -> Path:
        return self.directory / f"{FILE}{suffix}"

    def claim(self) -> None:
        """Take the directory and make the database if there was none; raises StoreError when another has it or data was lost,
        OSError when it cannot be used.
        """
        self.hold()
        self._refuse_lost()
        os.close(os.open(self.database, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        self.database.chmod(0o600)

    def hold(self) -> None:
        """Make the directory private and take it."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if stat.S_IMODE(self.directory.stat().st_mode) & 0o077:
            self.directory.chmod(0o700)
        self.lock = os.open(self.directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._take()

    def _take(self) -> None:
        try:
            import fcntl
        except ImportError:  # not on Windows, where nothing guards against a second server
            return
        holder, _, state = os.pread(self.lock, 40, 0).decode(errors="replace").partition("\n")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            which = f" (pid {holder})" if holder.isdigit() else ""
            raise StoreError(f"data directory {self.directory} is in use by another server{which}") from None
        self.used = state.strip() == _USED
        self._write()

    def _write(self) -> None:
        text = f"{os.getpid()}\n{_USED if self.used else ''}\n".encode()
        os.pwrite(self.lock, text, 0)
        os.ftruncate(self.lock, len(text))

    def remember_use(self) -> None:
        """From now on a missing database is a loss."""
        if not self.used:
            self.used = True
            self._write()

    def release(self) -> None:
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1

    # ---- damage

    def _refuse_lost(self) -> None:
        """Raise when there was data and the database is missing or empty."""
        size = self.database.stat().st_size if self.database.exists() else 0
        if not size and (self.used or any(self.beside(suffix).exists() for suffix in ("-wal", "-shm"))):
            how = "empty" if self.database.exists() else "missing"
            raise StoreError(
                f"data file {self.database} is {how}, though there was data; {advice(self.directory)},"
                f" or remove {self.directory} to begin anew"
            )

    def log_index(self) -> LogIndex | None:
        """What the index of the log says, None if there is none or it was being changed."""
        try:
            data = self.beside("-shm").read_bytes()[: _BACKFILLED + 4]
        except OSError:
            return None
        if len(data) < _BACKFILLED + 4 or data[:48] != data[48:96]:
            return None
        _, _, _, begun, _, _, frames, _, _, salts, _ = _INDEX.unpack_from(data)
        (copied,) = struct.unpack_from("=I", data, _BACKFILLED)
        return LogIndex(frames, copied, salts) if begun else None

    def log_size(self) -> int:
        path = self.beside("-wal")
        return path.stat().st_size if path.exists() else 0

    def reader(self) -> sqlite3.Connection:
        """A connection that only reads, once the log was found whole; raises StoreError, and leaves all as it was, if it is not.

        Such a connection changes nothing when it is closed. One that may write would then copy what is left of a damaged log
        into the database and remove the log: the next start would find nothing wrong any more.
        """
        before = self.log_index()
        if before is not None and before.copied < before.frames and self.log_size() < _LOG_HEADER:
            raise self._damaged(before.frames - before.copied)
        kept = self.beside("-shm").read_bytes() if before is not None else b""
        connection = sqlite3.connect(f"file:{quote(str(self.database.absolute()))}?mode=ro", uri=True, check_same_thread=False)
        try:
            connection.execute("PRAGMA busy_timeout=5000")
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            now = self.log_index()
            if before is not None and now is not None and before.salts == now.salts and now.frames < before.frames:
                raise self._damaged(before.frames - now.frames)
        except StoreError:
            connection.close()
            self.beside("-shm").write_bytes(kept)
            raise
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _damaged(self, pages: int) -> StoreError:
        return StoreError(
            f"the log {self.beside('-wal')} is damaged: {pages} pages of acknowledged writes are missing from it;"
            f" {advice(self.directory)}, or remove {self.beside('-shm')} to go on without those writes"
        )
