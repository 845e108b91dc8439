"""The store on one machine's disk: SQLite's write-ahead log, one thread that writes, one transaction per batch.

- *Durable* means synced: `journal_mode=WAL` with `synchronous=FULL`.
- *One statement per batch.* Each step of a statement gives the interpreter lock away and has to wait for it again, which under a
  busy event loop takes milliseconds. So a batch is one INSERT of many rows, which is a transaction of its own.
- *Rows are only appended*; superseded ones are erased later, when the index says that nothing needs them any more.
- *One server per data directory*, held by a lock on a file beside the database, which the system releases when the process dies.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

from setpoint.kit import logs
from setpoint.kit.clock import Clock
from setpoint.storage.backends.sqlite_checkpoints import PAGE, Checkpoints
from setpoint.storage.backends.sqlite_files import StoreFiles, advice, checksum, verified
from setpoint.storage.encryption.journal import SealedJournal
from setpoint.storage.encryption.values import Values
from setpoint.storage.journal import Done, Recovered, Row
from setpoint.storage.local import LocalStore
from setpoint.storage.mvcc import Retention
from setpoint.storage.protocol import Describe, StoreError, Unavailable

log = logs.get_logger("storage.sqlite")
T = TypeVar("T")

ROWS_PER_INSERT = 256
REVISIONS_PER_ERASE = 500  # writers wait for one such transaction at the most
_LULL = 0.01  # seconds without a write after which history is erased
_ERASE_EVERY = 0.05  # seconds, where there is no lull

# Migration n brings `PRAGMA user_version` from n-1 to n. Never change one that was released; add the next.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE log (
            revision INTEGER PRIMARY KEY, key TEXT NOT NULL, created INTEGER NOT NULL, expires REAL NOT NULL, value BLOB
        ) STRICT""",
        "CREATE TABLE history (floor INTEGER NOT NULL) STRICT",
        "INSERT INTO history VALUES (0)",
    ),
    ("ALTER TABLE log ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0",),  # 0: written before there were any
    ("ALTER TABLE history ADD COLUMN checks INTEGER NOT NULL DEFAULT 0",),
)


def connect(path: Path) -> sqlite3.Connection:
    """One INSERT per number of rows, each prepared once."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=2 * ROWS_PER_INSERT)


class SQLiteJournal:
    """A Journal in `directory`, which is made (mode 0700) if it is not there; files have mode 0600."""

    def __init__(self, directory: Path, connect: Callable[[Path], sqlite3.Connection] = connect) -> None:
        self._files = StoreFiles(directory)
        self._connect = connect
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._erasures: deque[tuple[Sequence[int], int]] = deque()
        self._thread: Thread | None = None
        self._loop: asyncio.AbstractEventLoop
        self._connection: sqlite3.Connection
        self._checkpoints: Checkpoints

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
            await self._call(self._close)
            await self._stop()

    async def _stop(self) -> None:
        self._work.put(None)
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.to_thread(thread.join)
        self._files.release()

    # ---- in the thread

    def _write(self) -> None:
        """Work in turn; erase when there is nothing else to do, and now and then when there always is."""
        erased = 0.0
        while True:
            try:
                work = self._work.get(timeout=_LULL if self._erasures else None)
            except Empty:
                work = self._nothing
            if work is None:
                return
            work()
            if self._erasures and (work == self._nothing or time.monotonic() - erased > _ERASE_EVERY):
                self._erase(*self._erasures.popleft())
                erased = time.monotonic()

    def _nothing(self) -> None:
        """A lull."""

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

    def _close(self) -> None:
        while self._erasures:
            self._erase(*self._erasures.popleft())
        self._checkpoints.stop()
        self._connection.close()

    def _open(self) -> Recovered:
        files = self._files
        try:
            files.claim()
        except OSError as error:
            raise StoreError(f"data directory {files.directory} cannot be used: {error.strerror}") from error
        # Kept until the other connection has opened the log too, which is so read only once.
        looked = files.reader() if files.log_index() is not None else None
        self._connection = self._connect(files.database)
        try:
            self._connection.execute("PRAGMA busy_timeout=5000")
            self._migrate()
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=FULL")
            self._checkpoints = Checkpoints(
                self._connection, partial(self._connect, files.database), self._work.put, time.monotonic
            )
            recovered = self._read()
        except (sqlite3.Error, StoreError):
            self._connection.close()
            raise
        finally:
            if looked is not None:
                looked.close()
        files.remember_use()
        return recovered

    def _floor(self) -> int:
        """Where history begins; on a damaged page there may be no such row, or one with anything in it."""
        row = self._connection.execute("SELECT floor FROM history").fetchone()
        if row is None or type(row[0]) is not int:
            raise StoreError(self._corrupted("it does not say where its history begins"))
        return int(row[0])

    def _read(self) -> Recovered:
        floor = self._floor()
        found = self._connection.execute("SELECT revision, key, created, expires, value, checksum FROM log ORDER BY revision")
        try:
            rows, damaged = verified(found)
        except (AttributeError, TypeError) as error:  # a page that is none of this table's
            raise StoreError(self._corrupted(str(error))) from error
        if damaged:
            raise StoreError(self._corrupted(f"the value of {damaged[0]} does not have its checksum"))
        return Recovered(rows, floor)

    def _migrate(self) -> None:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version > len(MIGRATIONS):
            raise StoreError(
                f"data directory {self._files.directory} was written by a newer version of setpoint"
                f" (data version {version}, this one knows {len(MIGRATIONS)})"
            )
        for number, statements in enumerate(MIGRATIONS[version:], version + 1):
            self._connection.execute("BEGIN IMMEDIATE")
            for statement in statements:
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA user_version={number}")
            self._connection.execute("COMMIT")

    def _explain(self, error: sqlite3.Error) -> StoreError:
        if getattr(error, "sqlite_errorname", "") in {"SQLITE_NOTADB", "SQLITE_CORRUPT"}:
            return StoreError(self._corrupted(str(error)))
        return StoreError(f"data file {self._files.database} cannot be used: {error}")

    def _corrupted(self, what: str) -> str:
        return f"data file {self._files.database} is corrupted: {what}; {advice(self._files.directory)}"

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
            failure = Unavailable(f"cannot write: {error}")
        self._loop.call_soon_threadsafe(done, failure)
        if failure is None:
            self._checkpoints.written(2 + sum(1 + len(row.value or b"") // PAGE for row in rows))

    def check(self, done: Done) -> None:
        self._work.put(partial(self._check, done))

    def _check(self, done: Done) -> None:
        # A change, if a small one: what changes nothing SQLite does not write.
        failure: StoreError | None = None
        try:
            self._transaction(lambda: self._connection.execute("UPDATE history SET checks = checks + 1"))
        except sqlite3.Error as error:
            failure = Unavailable(f"cannot write: {error}")
        self._loop.call_soon_threadsafe(done, failure)

    def _insert_many(self, rows: Sequence[Row]) -> None:
        for start in range(0, len(rows), ROWS_PER_INSERT):
            self._insert(rows[start : start + ROWS_PER_INSERT])

    def _insert(self, rows: Sequence[Row]) -> None:
        places = ",".join(["(?,?,?,?,?,?)"] * len(rows))
        self._connection.execute(
            f"INSERT INTO log VALUES {places}",  # noqa: S608 - question marks only
            [column for row in rows for column in (*row, checksum(row.revision, row.key, row.created, row.value))],
        )

    def _transaction(self, work: Callable[[], object]) -> None:
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
            self._erasures.append((revisions[start : start + REVISIONS_PER_ERASE], floor))
        self._work.put(self._nothing)

    def _erase(self, revisions: Sequence[int], floor: int) -> None:
        def work() -> None:
            # First of all say that history has shrunk: whoever opens a half-erased journal must not offer the rest of it.
            self._connection.execute("UPDATE history SET floor = ?", (floor,))
            self._connection.execute(
                "DELETE FROM log WHERE revision IN (SELECT value FROM json_each(?))", (str(list(revisions)),)
            )

        try:
            # Nobody is told that it happened, so it need not be durable: the next write's sync makes it so.
            self._connection.execute("PRAGMA synchronous=NORMAL")
            try:
                self._transaction(work)
            finally:
                self._connection.execute("PRAGMA synchronous=FULL")
            self._checkpoints.written(2 + len(revisions) // 2)
        except sqlite3.Error as error:
            log.warning("cannot erase old history", error=str(error), rows=len(revisions))


def _connect_sealed(path: Path) -> sqlite3.Connection:
    """What is erased is overwritten: it may date from before anything was sealed."""
    connection = connect(path)
    connection.execute("PRAGMA secure_delete=ON")
    return connection


def sqlite_store(
    directory: Path,
    clock: Clock,
    *,
    retention: Retention | None = None,
    describe: Describe | None = None,
    values: Values | None = None,
) -> LocalStore:
    """A store on disk; starts nothing until it is opened. Needs real time: it waits for a thread.

    `values` are what is sealed on the disk.
    """
    values = values or Values()
    journal = SealedJournal(SQLiteJournal(directory, _connect_sealed if values.on else connect), values)
    return LocalStore(journal, clock, retention=retention, describe=describe, outdated=values.outdated, ready=values.ready)
