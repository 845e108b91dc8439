"""The API server's side of the audit log: events are gathered and sent to a process of its own, which makes lines of them and
writes them (`log_writer`). The event loop waits for neither.

What that process has not written yet is at most `MOST_BYTES`: beyond that new events are dropped, counted
(`apiserver_audit_error_total`) and reported once per second, and the server goes on. Should the process end, it is started
again, and what it had not written counts as lost. What was sent before the server itself is killed is written.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from os import close

import msgspec

from setpoint.apiserver.audit.event import Event
from setpoint.apiserver.audit.log_file import Rotation, opened
from setpoint.apiserver.audit.log_writer import LENGTH, Written
from setpoint.apiserver.heads import readable
from setpoint.kit import logs, metrics

log = logs.get_logger("apiserver.audit")

MOST_BYTES = 64 * 1024 * 1024
_MESSAGE = 32 * 1024  # bytes that are sent together, some hundred events
_GATHER_SECONDS = 0.1
_AGAIN_AFTER = 1.0  # seconds
_PATIENCE = 10.0  # seconds in which the rest is to be written when the log is closed
_ARRAY = b"\xdd"  # how MessagePack begins one, before four bytes of its length
_EVENTS = metrics.counter("apiserver_audit_event_total", "Audit events made.").labels()
_DROPPED = metrics.counter("apiserver_audit_error_total", "Audit events that were not written.", ("plugin",))
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
        file = opened(self._path)
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-P", "-m", "setpoint.apiserver.audit.log_writer", self._path]
        command += [str(number) for number in (*msgspec.structs.astuple(self._rotation), file)]
        # a session of its own: Ctrl-C reaches the server alone, and what it has to say while it ends is written
        try:
            self._process = subprocess.Popen(command, stdin=theirs.fileno(), pass_fds=(file,), start_new_session=True)
        except OSError:
            ours.close()
            raise
        finally:
            close(file)
            theirs.close()
        ours.setblocking(False)
        self._link = ours
        asyncio.get_running_loop().add_reader(ours, self._read)

    async def close(self) -> None:
        """Write what is gathered, then stop."""
        self.last()
        self._closing = True
        self._hand_over()
        if self._link is None or self._process is None:
            self._drop(self._lines)
            return
        self._send()
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._ended.wait()
        except TimeoutError:
            log.warning("the rest of the audit log takes too long to write")
            self._end_process()
            self._lost()
        else:
            await asyncio.to_thread(self._process.wait)

    def put(self, event: Event) -> None:
        gathered, before = self._gathered, len(self._gathered)
        try:
            _encode_into(event, gathered, -1)
        except UnicodeEncodeError:
            del gathered[before:]
            _encode_into(_readable(event), gathered, -1)
        self._events += 1
        self._lines += 2 if event.comes else 1
        if len(gathered) >= _MESSAGE:
            self._hand_over()
        elif not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(_GATHER_SECONDS, self._come_due)

    def _come_due(self) -> None:
        self._is_due = False
        self._hand_over()

    def _hand_over(self) -> None:
        """Send what is gathered, as one message, or drop it if there is no room."""
        if not self._events:
            return
        size = len(self._gathered) + len(_ARRAY) + LENGTH
        if self._bytes_under_way + size > MOST_BYTES:
            self._drop(self._lines)
        elif self._link is None:  # it is being started again
            return
        else:
            self._unsent += b"".join((size.to_bytes(LENGTH), _ARRAY, self._events.to_bytes(LENGTH), self._gathered))
            self._under_way.append((self._lines, size))
            self._bytes_under_way += size
            self._send()
        _EVENTS.inc(self._lines)
        self._gathered.clear()
        self._events = self._lines = 0

    def _send(self) -> None:
        """Send what the socket takes; when the log is closed and all is sent, tell so."""
        link, loop = self._link, asyncio.get_running_loop()
        if link is None:
            return
        with suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):  # who has ended is noticed by reading
            del self._unsent[: link.send(self._unsent)]
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
        """The process has ended, as it was told to or by itself."""
        link, loop = self._link, asyncio.get_running_loop()
        if link is None:
            return
        loop.remove_reader(link)
        loop.remove_writer(link)
        link.close()
        self._link = None
        if self._under_way:
            self._drop(sum(lines for lines, _ in self._under_way))
        self._under_way.clear()
        self._unsent.clear()
        self._bytes_under_way, self._answers = 0, b""
        self._ended.set()
        if not self._closing:
            log.warning("the process that writes the audit log has ended, and is started again")
            loop.call_later(_AGAIN_AFTER, self._again)

    def _again(self) -> None:
        if self._closing:
            return
        self._end_process()
        self._ended.clear()
        try:
            self.open()
        except OSError as error:
            log.warning("the audit log cannot be opened", error=error.strerror)
            asyncio.get_running_loop().call_later(_AGAIN_AFTER, self._again)

    def _end_process(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

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
        return readable(value)
    if isinstance(value, dict):
        return {readable(name): _texts(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_texts(item) for item in value]
    return value
