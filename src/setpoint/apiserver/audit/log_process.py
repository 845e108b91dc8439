"""The API server's side of the audit log: events are gathered and sent to a process of its own, which makes lines of them and
writes them (`log_writer`). The event loop waits for neither.

When what that process has not written yet has come to `MOST_BYTES`, new events are dropped, counted
(`apiserver_audit_error_total`) and reported once per second, and the server goes on. Should the process end, it is started again,
and what it had not written counts as lost. What its socket has taken when the server itself is killed is written.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Thread

import msgspec

from setpoint.apiserver.audit.event import Event
from setpoint.apiserver.audit.log_file import Rotation, opened
from setpoint.apiserver.audit.log_writer import LENGTH, Written
from setpoint.kit import logs, metrics

log = logs.get_logger("apiserver.audit")

MOST_BYTES = 64 * 1024 * 1024
_MESSAGE = 16 * 1024
"""Bytes that are sent together, some forty events. Each time another process is woken; but of ten times as many it makes lines
for milliseconds, and whoever shares its core with it, a client for one, waits that long.
"""
_GATHER_SECONDS = 0.1
_AGAIN_AFTER = 1.0  # seconds
_PATIENCE = 10.0  # seconds in which the rest is to be written when the log is closed
_LAST_SECONDS = 1.0  # for a process to end
#: the events of a message are made and thrown away together: without this their memory goes back to the system each time, and
#: comes again page by page
_KEEPS_MEMORY = {"PYTHONMALLOC": "malloc", "MALLOC_TRIM_THRESHOLD_": "67108864", "MALLOC_MMAP_THRESHOLD_": "67108864"}
_ARRAY = b"\xdd"  # how MessagePack begins one, before four bytes of its length
_EVENTS = metrics.counter("apiserver_audit_event_total", "Audit events made.").labels()
_DROPPED = metrics.counter("apiserver_audit_error_total", "Audit events that were not written.", ("plugin",))
_SURROGATES = re.compile("[\ud800-\udfff]")
_encode_into = msgspec.msgpack.Encoder().encode_into
_written = msgspec.json.Decoder(Written)


class LogProcess:
    """Writes events to the file at `path`, or to standard output where it is `-`. A `recorder.Sink`."""

    def __init__(self, path: str, rotation: Rotation) -> None:
        self._path = path
        self._rotation = rotation
        self._gathered = bytearray()
        self._events = self._lines = 0  # that are gathered
        self._is_due = self._closing = False
        self._process: subprocess.Popen[bytes] | None = None
        self._link: socket.socket | None = None
        self._unsent = bytearray()  # of messages, what the socket has no room for
        self._answers = b""  # the beginning of a line
        self._under_way: deque[tuple[int, int]] = deque()  # lines and bytes of each message that is not answered
        self._bytes_under_way = 0
        self._told = 0.0
        self._ended = asyncio.Event()  # the process
        #: gives what is still to be written, when the log is closed
        self.last: Callable[[], None] = lambda: None
        self.dropped = 0

    def open(self) -> None:
        """Open the file and begin to write. Raises OSError."""
        self._connect(*self._started())

    def _started(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        """A new process, and our end of what leads to it. Raises OSError; may wait for the file."""
        file = opened(self._path)
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-P", "-m", "setpoint.apiserver.audit.log_writer", self._path]
        command += [str(number) for number in (*msgspec.structs.astuple(self._rotation), file)]
        try:
            # a session of its own: Ctrl-C reaches the server alone, and what it has to say while it ends is written
            process = subprocess.Popen(
                command, stdin=theirs.fileno(), pass_fds=(file,), start_new_session=True, env={**os.environ, **_KEEPS_MEMORY}
            )
        except OSError:
            ours.close()
            raise
        finally:
            os.close(file)
            theirs.close()
        ours.setblocking(False)
        return process, ours

    def _connect(self, process: subprocess.Popen[bytes], link: socket.socket) -> None:
        self._process, self._link = process, link
        self._ended.clear()
        asyncio.get_running_loop().add_reader(link, self._read)
        self._hand_over()
        if self._closing:
            self._send()

    async def close(self) -> None:
        """Write what is gathered, then stop."""
        self.last()
        self._closing = True
        self._hand_over()
        self._send()
        if self._link is not None:
            try:
                async with asyncio.timeout(_PATIENCE):
                    await self._ended.wait()
            except TimeoutError:
                log.warning("the rest of the audit log takes too long to write")
        self._lost()
        await asyncio.to_thread(self._reap)

    def put(self, event: Event) -> None:
        lines = 2 if event.comes else 1
        gathered, before = self._gathered, len(self._gathered)
        if self._closing or self._bytes_under_way + before >= MOST_BYTES:
            self._drop(lines)
            return
        try:
            _encode_into(event, gathered, -1)
        except (TypeError, ValueError, OverflowError) as error:
            del gathered[before:]
            if not self._mended(event, error):
                self._drop(lines)
                return
        self._events += 1
        self._lines += lines
        if len(gathered) >= _MESSAGE:
            self._hand_over()
        elif not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(_GATHER_SECONDS, self._come_due)

    def _mended(self, event: Event, error: Exception) -> bool:
        """Add an event that could not be encoded to what is gathered; False where it cannot be told."""
        if not isinstance(error, UnicodeEncodeError):
            log.warning("an audit event cannot be told", error=str(error))
            return False
        _encode_into(_readable(event), self._gathered, -1)
        return True

    def _come_due(self) -> None:
        self._is_due = False
        self._hand_over()

    def _hand_over(self) -> None:
        """Send what is gathered, as one message, unless the process is being started again."""
        if not self._events or self._link is None:
            return
        size = len(self._gathered) + len(_ARRAY) + LENGTH
        self._unsent += size.to_bytes(LENGTH) + _ARRAY + self._events.to_bytes(LENGTH)
        self._unsent += self._gathered
        self._under_way.append((self._lines, size))
        self._bytes_under_way += size
        _EVENTS.inc(self._lines)
        self._gathered.clear()
        self._events = self._lines = 0
        self._send()

    def _send(self) -> None:
        """Send what the socket takes; when the log is closed and all is sent, tell so."""
        link, loop = self._link, asyncio.get_running_loop()
        if link is None:
            return
        try:
            del self._unsent[: link.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError:  # the process has ended, as reading will tell
            loop.remove_writer(link)
            return
        if self._unsent:
            loop.add_writer(link, self._send)
        else:
            loop.remove_writer(link)
            if self._closing:
                link.shutdown(socket.SHUT_WR)

    def _read(self) -> None:
        """Take in what became of messages."""
        try:
            data = self._link.recv(65_536) if self._link is not None else b""
        except ConnectionResetError:
            data = b""
        if not data:
            self._lost()
            return
        *answers, self._answers = (self._answers + data).split(b"\n")
        for answer in answers:
            lines, size = self._under_way.popleft()
            self._bytes_under_way -= size
            if error := _written.decode(answer).error:
                log.warning("the audit log cannot be written", error=error, lines=lines)
                _DROPPED.labels("log").inc(lines)

    def _lost(self) -> None:
        """The process has ended, as it was told to or by itself, or is given up."""
        link, loop = self._link, asyncio.get_running_loop()
        lost = sum(lines for lines, _ in self._under_way)
        if link is not None:
            loop.remove_reader(link)
            loop.remove_writer(link)
            link.close()
            self._link = None
        self._under_way.clear()
        self._unsent.clear()
        self._bytes_under_way, self._answers = 0, b""
        self._ended.set()
        if self._closing:
            lost, self._lines, self._events = lost + self._lines, 0, 0
            self._gathered.clear()
        elif link is not None:
            log.warning("the process that writes the audit log has ended, and is started again")
            loop.call_later(_AGAIN_AFTER, self._again)
        if lost:
            self._drop(lost)

    def _again(self) -> None:
        # by a thread, as the file may be where opening takes long; a daemon, as it may never end
        Thread(target=self._start_beside, args=(asyncio.get_running_loop(),), name="audit-log", daemon=True).start()

    def _start_beside(self, loop: asyncio.AbstractEventLoop) -> None:
        self._reap()
        try:
            process, link = self._started()
        except OSError as error:
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(self._not_started, error)
            return
        try:
            loop.call_soon_threadsafe(self._connect, process, link)
        except RuntimeError:  # so has it here
            link.close()
            process.wait()

    def _not_started(self, error: OSError) -> None:
        log.warning("the audit log cannot be opened", error=error.strerror)
        if not self._closing:
            asyncio.get_running_loop().call_later(_AGAIN_AFTER, self._again)

    def _reap(self) -> None:
        """See the process end, by force if it does not; one that waits for a disk that hangs is left alone."""
        process = self._process
        if process is None:
            return
        try:
            process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LAST_SECONDS)

    def _drop(self, lines: int) -> None:
        self.dropped += lines
        _DROPPED.labels("log").inc(lines)
        if (now := time.monotonic()) - self._told > 1.0:
            self._told = now
            log.warning("audit events are lost", total=self.dropped, buffer=MOST_BYTES)


def _readable(event: Event) -> Event:
    """An event in which bytes of headers that are no UTF-8 are replaced."""
    return msgspec.convert(_texts(msgspec.to_builtins(event)), Event)


def _texts(value: object) -> object:
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_texts(name): _texts(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_texts(item) for item in value]
    return value
