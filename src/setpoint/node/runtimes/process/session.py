"""The streams of an exec or attach: pipes or a terminal that this process holds itself."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import struct
import termios
from collections.abc import Awaitable, Callable

CHUNK = 32 * 1024


class Streams:
    """The descriptors of one session. `readers` by stream name; `writer` the input (or the terminal), -1 without."""

    def __init__(self, readers: dict[str, int], writer: int, *, terminal: int = -1) -> None:
        self.readers = readers
        self.writer = writer
        self.terminal = terminal
        for descriptor in {*readers.values(), writer} - {-1}:
            os.set_blocking(descriptor, False)


def pipes(*, stdin: bool) -> tuple[Streams, tuple[int, int, int]]:
    """Our ends and, in order, those of the process."""
    out, out_inner = os.pipe()
    err, err_inner = os.pipe()
    if stdin:
        inner, writer = os.pipe()
    else:
        inner, writer = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC), -1
    return Streams({"stdout": out, "stderr": err}, writer), (inner, out_inner, err_inner)


def terminal() -> tuple[Streams, tuple[int, int, int]]:
    """The same with one terminal for all."""
    master, slave = os.openpty()
    return Streams({"stdout": master}, master, terminal=master), (slave, slave, slave)


class ProcessSession:
    """Reads are pulled: a slow reader slows the process down through its own pipe, nothing is buffered here."""

    def __init__(
        self,
        streams: Streams,
        *,
        exit_code: Awaitable[int] | None = None,
        on_close: Callable[[], None] = lambda: None,
        on_stdin_closed: Callable[[], Awaitable[None]] | None = None,
        on_kill: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`on_stdin_closed` is called once, when input ends or with the session."""
        self._streams = streams
        self._exit_code = exit_code
        self._on_close = on_close
        self._on_stdin_closed = on_stdin_closed
        self._on_kill = on_kill
        self._loop = asyncio.get_running_loop()
        # errors first: what complains often says so before it ends its output, and who reads to that end may look no further
        self._open = {name: streams.readers[name] for name in ("stderr", "stdout") if name in streams.readers}
        self._closed = False
        self._ready = asyncio.Event()
        self._writer_ready = asyncio.Event()
        self._ended = asyncio.Event()

    async def read(self) -> tuple[str, bytes]:
        while self._open:
            for name, descriptor in list(self._open.items()):
                data = self._try_read(descriptor)
                if data is None:
                    continue
                del self._open[name]
                if data:
                    self._open[name] = descriptor  # behind the other, which has its turn now
                    return name, data
            if self._open:
                await self._readable()
        self._ended.set()
        return "", b""

    def _try_read(self, descriptor: int) -> bytes | None:
        """Data, b"" at the end, None when there is nothing yet."""
        try:
            return os.read(descriptor, CHUNK)
        except BlockingIOError:
            return None
        except OSError:  # EIO: the terminal's other side is gone
            return b""

    async def _readable(self) -> None:
        self._ready.clear()
        descriptors = list(self._open.values())
        for descriptor in descriptors:
            self._loop.add_reader(descriptor, self._ready.set)
        try:
            await self._ready.wait()
        finally:
            if not self._closed:  # a closed descriptor's number may be someone else's by now
                for descriptor in descriptors:
                    self._loop.remove_reader(descriptor)

    async def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view and self._streams.writer >= 0:
            try:
                view = view[os.write(self._streams.writer, view) :]
            except BlockingIOError:
                await self._writable(self._streams.writer)
            except OSError:  # nobody reads any more
                return

    async def _writable(self, descriptor: int) -> None:
        self._loop.add_writer(descriptor, self._writer_ready.set)
        try:
            await self._writer_ready.wait()
        finally:
            self._writer_ready.clear()
            if not self._closed:
                self._loop.remove_writer(descriptor)

    async def close_stdin(self) -> None:
        if self._streams.writer < 0:
            return
        if self._streams.terminal >= 0:
            await self.write(b"\x04")  # a terminal has no half-close; end of file is a key
            return
        os.close(self._streams.writer)
        self._streams.writer = -1
        await self._stdin_closed()

    async def _stdin_closed(self) -> None:
        tell, self._on_stdin_closed = self._on_stdin_closed, None
        if tell is not None:
            await tell()

    def resize(self, width: int, height: int) -> None:
        if self._streams.terminal >= 0:
            with contextlib.suppress(OSError):
                fcntl.ioctl(self._streams.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    async def wait(self) -> int:
        if self._exit_code is not None:
            return await self._exit_code
        await self._ended.wait()
        return 0

    async def kill(self) -> None:
        """End the process of an exec, whatever it does."""
        if self._on_kill is not None:
            await self._on_kill()

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for descriptor in {*self._streams.readers.values(), self._streams.writer, self._streams.terminal} - {-1}:
            self._loop.remove_reader(descriptor)
            self._loop.remove_writer(descriptor)
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._streams.writer = self._streams.terminal = -1
        self._open.clear()
        self._ready.set()
        self._writer_ready.set()
        self._on_close()
        await self._stdin_closed()
