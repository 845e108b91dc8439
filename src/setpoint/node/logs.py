"""Reads container logs as kubelet serves them: CRI's format back to what the container wrote.

Only the present file of an attempt is read, as kubelet does; rotated ones are for people with access to the node.
"""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import AsyncIterator, Callable

from msgspec import Struct

from setpoint.kit.clock import Clock, parse_rfc3339

CHUNK = 64 * 1024
_POLL = 0.05


class LogOptions(Struct, frozen=True):
    """`PodLogOptions`; `since` is seconds since the epoch, `tail` -1 for everything, `limit_bytes` 0 for no limit."""

    follow: bool = False
    tail: int = -1
    since: float = 0.0
    timestamps: bool = False
    limit_bytes: int = 0
    stream: str = ""


class _Entries:
    """Entries of the log as bytes for the client. A part (`P`) of a line has no newline."""

    def __init__(self, options: LogOptions) -> None:
        self._options = options
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        shown = (self._show(line) for line in lines)
        return [entry for entry in shown if entry is not None]

    def _show(self, line: bytes) -> bytes | None:
        parts = line.split(b" ", 3)
        if len(parts) < 4:
            return None
        stamp, stream, tag, text = parts
        options = self._options
        if options.stream and options.stream.lower() != stream.decode():
            return None
        if options.since and _seconds(stamp) < options.since:
            return None
        end = b"\n" if tag == b"F" else b""
        return stamp + b" " + text + end if options.timestamps else text + end


def _seconds(stamp: bytes) -> float:
    whole, _, fraction = stamp.rstrip(b"Z").partition(b".")
    return parse_rfc3339(whole.decode() + "Z") + float(b"0." + (fraction or b"0"))


async def read(path: str, options: LogOptions, clock: Clock, running: Callable[[], bool]) -> AsyncIterator[bytes]:
    """Chunks of text. With `follow` until `running()` is false and all is read; a rotated file is followed into the new one."""
    left = options.limit_bytes or None
    async for chunk in _read(path, options, clock, running):
        if left is None:
            yield chunk
            continue
        yield chunk[:left]
        left -= len(chunk)
        if left <= 0:
            return


async def _read(path: str, options: LogOptions, clock: Clock, running: Callable[[], bool]) -> AsyncIterator[bytes]:
    file = await _open(path, clock, running if options.follow else _never)
    if file is None:
        return
    try:
        entries, rotated = _Entries(options), False
        if options.tail >= 0:
            await asyncio.get_running_loop().run_in_executor(None, _seek_tail, file, options.tail)
        while True:
            alive = running()  # asked before reading: what is written before the end is read after it
            data = file.read(CHUNK)
            if data:
                shown = entries.feed(data)
                if shown:
                    yield b"".join(shown)
                continue
            if not options.follow:
                return
            if rotated:
                file.close()
                file, rotated = io.FileIO(path, "rb"), False
                continue
            if rotated := _rotated(file, path):
                continue  # first what was written to the old file between the last read and the rotation
            if not alive:
                return
            await clock.sleep(_POLL)
    finally:
        file.close()


def _never() -> bool:
    return False


async def _open(path: str, clock: Clock, running: Callable[[], bool]) -> io.FileIO | None:
    """The log file, as soon as there is one; None if nothing runs that could write it."""
    while (file := _try_open(path)) is None and running():
        await clock.sleep(_POLL)
    return file


def _try_open(path: str) -> io.FileIO | None:
    try:
        return io.FileIO(path, "rb")
    except FileNotFoundError:
        return None


def _rotated(file: io.FileIO, path: str) -> bool:
    try:
        return os.stat(path).st_ino != os.fstat(file.fileno()).st_ino
    except FileNotFoundError:
        return False


def _seek_tail(file: io.FileIO, lines: int) -> None:
    """Set the position so that `lines` lines follow, reading back from the end in blocks."""
    position = file.seek(0, os.SEEK_END)
    if lines == 0:
        return
    found, first = 0, True
    while position > 0:
        size = min(CHUNK, position)
        position -= size
        file.seek(position)
        block = file.read(size)
        end = len(block) - 1 if first and block.endswith(b"\n") else len(block)
        first = False
        while (at := block.rfind(b"\n", 0, end)) >= 0:
            found += 1
            if found == lines:
                file.seek(position + at + 1)
                return
            end = at
    file.seek(0)
