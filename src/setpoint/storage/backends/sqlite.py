"""The store on one machine's disk: SQLite's write-ahead log, one thread that writes, one transaction per batch.

- *Durable* means synced: `journal_mode=WAL` with `synchronous=FULL`.
- *One statement per batch.* Each step of a statement gives the interpreter lock away and has to wait for it again, which under a
  busy event loop takes milliseconds. So a batch is one INSERT of many rows, which is a transaction of its own.
- *Rows are only appended*; superseded ones are erased later, when the index says that nothing needs them any more.
- *One server per data directory*, held by a lock on a file beside the database, which the system releases when the process dies.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

from setpoint.kit import logs
from setpoint.kit.clock import Clock
from setpoint.storage.journal import Done, Recovered, Row
from setpoint.storage.local import LocalStore
from setpoint.storage.mvcc import Retention
from setpoint.storage.protocol import Describe, StoreError, Unavailable

log = logs.get_logger("storage.sqlite")
T = TypeVar("T")

FILE = "setpoint.db"
LOCK = "lock"
ROWS_PER_INSERT = 256
REVISIONS_PER_ERASE = 1000

# Migration n brings `PRAGMA user_version` from n-1 to n. Never change one that was released; add the next.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE log (
            revision INTEGER PRIMARY KEY, key TEXT NOT NULL, created INTEGER NOT NULL, expires REAL NOT NULL, value BLOB
        ) STRICT""",
        "CREATE TABLE history (floor INTEGER NOT NULL) STRICT",
        "INSERT INTO history VALUES (0)",
    ),
)


class SQLiteJournal:
    """A Journal in `directory`, which is made (mode 0700) if it is not there; files have mode 0600."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._loop: asyncio.AbstractEventLoop
        self._connection: sqlite3.Connection
        self._lock = -1

    async def open(self) -> Recovered:
        self._loop = asyncio.get_running_loop()
        self._thread = Thread(target=self._write, name="storage-sqlite", daemon=True)
        self._thread.start()
        try:
            return await self._call(self._open)
        except StoreError:
            await self._stop()
            raise

    async def close(self) -> None:
        if self._thread is not None:
            await self._call(self._connection.close)
            await self._stop()

    async def _stop(self) -> None:
        self._work.put(None)
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.to_thread(thread.join)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    # ---- in the thread

    def _write(self) -> None:
        while (work := self._work.get()) is not None:
            work()

    async def _call(self, work: Callable[[], T]) -> T:
        """Run `work` in the thread, in turn."""
        answer: asyncio.Future[T] = self._loop.create_future()

        def run() -> None:
            try:
                result = work()
            except StoreError as error:
                self._loop.call_soon_threadsafe(answer.set_exception, error)
            except sqlite3.Error as error:
                self._loop.call_soon_threadsafe(answer.set_exception, self._explain(error))
            else:
                self._loop.call_soon_threadsafe(answer.set_result, result)

        self._work.put(run)
        return await answer

    def _open(self) -> Recovered:
        path = self._directory / FILE
        try:
            self._make_private(path)
        except OSError as error:
            raise StoreError(f"data directory {self._directory} cannot be used: {error.strerror}") from error
        # One INSERT per number of rows, each prepared once.
        self._connection = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, cached_statements=2 * ROWS_PER_INSERT
        )
        try:
            self._connection.execute("PRAGMA busy_timeout=5000")
            self._migrate()
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=FULL")
            self._connection.execute("PRAGMA wal_autocheckpoint=4000")
            (floor,) = self._connection.execute("SELECT floor FROM history").fetchone()
            rows = self._connection.execute("SELECT revision, key, created, expires, value FROM log ORDER BY revision").fetchall()
        except (sqlite3.Error, StoreError):
            self._connection.close()
            raise
        return Recovered(rows, floor)

    def _make_private(self, path: Path) -> None:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if stat.S_IMODE(self._directory.stat().st_mode) & 0o077:
            self._directory.chmod(0o700)
        self._lock = os.open(self._directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._lock_directory()
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        path.chmod(0o600)

    def _lock_directory(self) -> None:
        try:
            import fcntl
        except ImportError:  # not on Windows, where nothing guards against a second server
            return
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._lock, 20, 0).decode(errors="replace").strip()
            which = f" (pid {holder})" if holder.isdigit() else ""
            raise StoreError(f"data directory {self._directory} is in use by another server{which}") from None
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, f"{os.getpid()}\n".encode(), 0)

    def _migrate(self) -> None:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version > len(MIGRATIONS):
            raise StoreError(
                f"data directory {self._directory} was written by a newer version of setpoint"
                f" (data version {version}, this one knows {len(MIGRATIONS)})"
            )
        for number, statements in enumerate(MIGRATIONS[version:], version + 1):
            self._connection.execute("BEGIN IMMEDIATE")
            for statement in statements:
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA user_version={number}")
            self._connection.execute("COMMIT")

    def _explain(self, error: sqlite3.Error) -> StoreError:
        path = self._directory / FILE
        if isinstance(error, sqlite3.DatabaseError) and error.sqlite_errorname in {"SQLITE_NOTADB", "SQLITE_CORRUPT"}:
            return StoreError(f"data file {path} is corrupted: {error}")
        return StoreError(f"data file {path} cannot be used: {error}")

    # ---- batches

    def append(self, rows: Sequence[Row], done: Done) -> None:
        self._work.put(partial(self._append, rows, done))

    def _append(self, rows: Sequence[Row], done: Done) -> None:
        failure: StoreError | None = None
        try:
            if len(rows) <= ROWS_PER_INSERT:
                self._insert(rows)
            else:
                self._transaction(lambda: self._insert_many(rows))
        except (sqlite3.Error, ValueError, OverflowError) as error:  # the latter two: what SQLite has no form for
            failure = Unavailable(f"cannot write to {self._directory / FILE}: {error}")
        self._loop.call_soon_threadsafe(done, failure)

    def _insert_many(self, rows: Sequence[Row]) -> None:
        for start in range(0, len(rows), ROWS_PER_INSERT):
            self._insert(rows[start : start + ROWS_PER_INSERT])

    def _insert(self, rows: Sequence[Row]) -> None:
        places = ",".join(["(?,?,?,?,?)"] * len(rows))
        self._connection.execute(
            f"INSERT INTO log VALUES {places}",  # noqa: S608 - question marks only
            [column for row in rows for column in row],
        )

    def _transaction(self, work: Callable[[], None]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            work()
            self._connection.execute("COMMIT")
        except (sqlite3.Error, ValueError, OverflowError):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def erase(self, revisions: Sequence[int], floor: int) -> None:
        for start in range(0, len(revisions) or 1, REVISIONS_PER_ERASE):
            self._work.put(partial(self._erase, revisions[start : start + REVISIONS_PER_ERASE], floor))

    def _erase(self, revisions: Sequence[int], floor: int) -> None:
        def work() -> None:
            # First of all say that history has shrunk: whoever opens a half-erased journal must not offer the rest of it.
            self._connection.execute("UPDATE history SET floor = ?", (floor,))
            self._connection.execute(
                "DELETE FROM log WHERE revision IN (SELECT value FROM json_each(?))", (str(list(revisions)),)
            )

        try:
            self._transaction(work)
        except sqlite3.Error as error:
            log.warning("cannot erase old history", error=str(error), rows=len(revisions))


def sqlite_store(
    directory: Path, clock: Clock, *, retention: Retention | None = None, describe: Describe | None = None
) -> LocalStore:
    """A store on disk; starts nothing until it is opened. Needs real time: it waits for a thread."""
    return LocalStore(SQLiteJournal(directory), clock, retention=retention, describe=describe)
