"""Checkpoints of SQLite's log that writers hardly notice.

A checkpoint copies what the log holds into the database and syncs it; where SQLite does that by itself, some unlucky commit waits
for all of it. Here a thread of its own copies the bulk, which leaves writers alone (they go on at the log's end), and only then
the writer's thread copies the little that has come since, so that the log begins anew with the next commit. Should that ever
fall behind, SQLite's own checkpoint, at a much longer log, is the safety net.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from threading import Thread

from setpoint.kit import logs, metrics

log = logs.get_logger("storage.sqlite")

EVERY = 4_000  # pages of the log
OWN = 40_000  # pages at which SQLite does it itself
PAGE = 4096  # bytes
_SECONDS = metrics.histogram("setpoint_storage_checkpoint_seconds", "How long checkpoints took, by who worked on them.", ("by",))


class Checkpoints:
    """`connect` opens the database once more, `in_turn` puts work to the writer's thread; `written` runs in that."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        connect: Callable[[], sqlite3.Connection],
        in_turn: Callable[[Callable[[], None]], None],
        now: Callable[[], float],
    ) -> None:
        self._connection = connection
        self._connect = connect
        self._in_turn = in_turn
        self._now = now
        self._pages = 0
        self._thread: Thread | None = None
        self._stopped = False
        connection.execute(f"PRAGMA wal_autocheckpoint={OWN}")

    def written(self, pages: int) -> None:
        """So many pages, more or less, were added to the log."""
        self._pages += pages
        if self._pages >= EVERY and self._thread is None:
            self._pages = 0
            thread = Thread(target=self._copy, name="storage-checkpoint", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:  # the system has no thread for us now; the writer's must not end of that
                log.warning("a checkpoint failed", error=str(error))
                return
            self._thread = thread

    def stop(self) -> None:
        """Wait for a checkpoint that is under way, before the writer's connection is closed."""
        self._stopped = True
        if self._thread is not None:
            self._thread.join()

    def _copy(self) -> None:
        try:
            connection = self._connect()
            try:
                connection.execute("PRAGMA synchronous=FULL")
                self._checkpoint(connection, "thread")
            finally:
                connection.close()
        except sqlite3.Error as error:  # full disks and the like are the next commit's to report
            log.warning("a checkpoint failed", error=str(error))
        self._in_turn(self._finish)

    def _finish(self) -> None:
        self._thread = None
        if self._stopped:
            return
        try:
            self._checkpoint(self._connection, "writer")
        except sqlite3.Error as error:
            log.warning("a checkpoint failed", error=str(error))

    def _checkpoint(self, connection: sqlite3.Connection, by: str) -> None:
        before = self._now()
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        _SECONDS.labels(by).observe(self._now() - before)
