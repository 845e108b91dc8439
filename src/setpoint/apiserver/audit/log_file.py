"""The audit log's file: lines go to a bounded buffer and from there, by a thread, to the disk. The event loop never waits for it.

They are handed over many at a time, at the latest after `_GATHER_SECONDS`: waking the thread for each costs more than making it,
since both want the interpreter.

When the buffer is full (`CAPACITY` lines or `MOST_BYTES`), new lines are dropped, counted
(`apiserver_audit_error_total`) and reported once per second: the server goes on. The file has mode 0600. When it would grow
beyond its size it is renamed to `<name>-<time>.<ext>` and begun anew; old ones go by number and by age.
Source: apiserver `plugin/pkg/audit/log`, and the library lumberjack, for names.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

from msgspec import Struct

from setpoint.kit import logs, metrics

log = logs.get_logger("apiserver.audit")

CAPACITY = 10_000  # lines, as kube-apiserver's --audit-log-batch-buffer-size
MOST_BYTES = 64 * 1024 * 1024
_BATCH = 256 * 1024  # bytes per write
_GATHER_SECONDS = 0.1
_DEFAULT_SIZE = 100  # MiB
_DAY = 86_400.0
_EVENTS = metrics.counter("apiserver_audit_event_total", "Audit events made.").labels()
_DROPPED = metrics.counter("apiserver_audit_error_total", "Audit events that were not written.", ("plugin",))


class Rotation(Struct, frozen=True):
    """`megabytes` per file (0: a hundred), so many old files, none older than so many `days` (0: no limit)."""

    megabytes: int = 0
    backups: int = 0
    days: int = 0


class LogFile:
    """Writes lines to `path`, or to standard output where it is `-`."""

    def __init__(self, path: str, rotation: Rotation) -> None:
        self._path = None if path == "-" else Path(path)
        self._rotation = rotation
        self._limit = (rotation.megabytes or _DEFAULT_SIZE) * 1024 * 1024
        self._gathered: list[bytes] = []
        self._gathered_lines = self._gathered_bytes = 0
        self._is_due = False
        self._batches: SimpleQueue[tuple[list[bytes], int, int] | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._file = -1
        self._is_plain = False
        self._size = 0
        # Two numbers each, so that loop and thread need no lock: one only writes the first, the other the second.
        self._sent = self._written = self._sent_bytes = self._written_bytes = 0
        self._told = 0.0
        #: gives what is still to be written, when the log is closed
        self.last: Callable[[], None] = lambda: None
        self.dropped = 0

    def open(self) -> None:
        """Open the file and begin to write. Raises OSError."""
        if self._path is not None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._open()
        self._thread = Thread(target=self._write, name="audit-log", daemon=True)
        self._thread.start()

    async def close(self) -> None:
        """Write what is buffered, then stop."""
        self.last()
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._hand_over()
        self._batches.put(None)
        await asyncio.to_thread(thread.join)
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def put(self, pieces: Sequence[bytes], lines: int = 1) -> None:
        """Take some lines (each with its end), in pieces; drop them if there is no room. Never waits."""
        _EVENTS.inc(lines)
        if self._sent + lines - self._written > CAPACITY or self._sent_bytes - self._written_bytes > MOST_BYTES:
            self._drop(lines)
            return
        size = sum(map(len, pieces))
        self._sent += lines
        self._sent_bytes += size
        self._gathered += pieces
        self._gathered_lines += lines
        self._gathered_bytes += size
        if self._gathered_bytes >= _BATCH:
            self._hand_over()
        elif not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(_GATHER_SECONDS, self._come_due)

    def _come_due(self) -> None:
        self._is_due = False
        self._hand_over()

    def _hand_over(self) -> None:
        """Give the thread what there is."""
        if self._gathered:
            self._batches.put((self._gathered, self._gathered_lines, self._gathered_bytes))
            self._gathered, self._gathered_lines, self._gathered_bytes = [], 0, 0

    def _drop(self, lines: int) -> None:
        self.dropped += lines
        _DROPPED.labels("log").inc(lines)
        if (now := time.monotonic()) - self._told > 1.0:
            self._told = now
            log.warning("audit events are lost", total=self.dropped, buffer=CAPACITY)

    # --- in the thread

    def _write(self) -> None:
        while (batch := self._batches.get()) is not None:
            self._put_down(*batch)

    def _put_down(self, batch: Sequence[bytes], lines: int, size: int) -> None:
        try:
            self._append(b"".join(batch))
        except OSError as error:
            log.warning("the audit log cannot be written", error=error.strerror, lines=lines)
            _DROPPED.labels("log").inc(lines)
        self._written += lines
        self._written_bytes += size

    def _append(self, data: bytes) -> None:
        if self._path is None:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            return
        if self._is_plain and self._size and self._size + len(data) > self._limit:
            self._rotate(self._path)
        view = memoryview(data)
        while view:
            written = os.write(self._file, view)
            self._size += written
            view = view[written:]

    def _open(self) -> None:
        if self._path is None:
            return
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        status = os.fstat(self._file)
        self._is_plain = stat.S_ISREG(status.st_mode)  # a device or a pipe is neither protected nor rotated
        if stat.S_IMODE(status.st_mode) & 0o077 and self._is_plain:
            os.fchmod(self._file, 0o600)
        self._size = status.st_size

    def _rotate(self, path: Path) -> None:
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S.%f")[:-3]
        os.close(self._file)
        path.rename(path.with_name(f"{path.stem}-{at}{path.suffix}"))
        self._open()
        self._remove_old(path)

    def _remove_old(self, path: Path) -> None:
        old = sorted(path.parent.glob(f"{path.stem}-*T*{path.suffix}"), reverse=True)
        oldest = time.time() - self._rotation.days * _DAY
        for number, backup in enumerate(old):
            too_many = self._rotation.backups and number >= self._rotation.backups
            if too_many or (self._rotation.days and backup.stat().st_mtime < oldest):
                backup.unlink(missing_ok=True)
