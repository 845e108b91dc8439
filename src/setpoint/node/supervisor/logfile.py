"""Container logs in CRI's format: `2026-01-02T03:04:05.000000006Z stdout F line`, rotated by size.

Source: the Container Runtime Interface's log format (tags `F` for a full line, `P` for a part of one).
"""

from __future__ import annotations

import os
import time

MAX_BYTES = 10 * 1024 * 1024
MAX_FILES = 5
LONGEST_LINE = 16 * 1024


def timestamp(nanoseconds: int) -> str:
    """RFC 3339 with nanoseconds, UTC."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:09d}Z"


class LogFile:
    """The log of one attempt of one container: `path`, then `path.1` (newest) to `path.4`."""

    def __init__(self, path: str, max_bytes: int = MAX_BYTES, max_files: int = MAX_FILES) -> None:
        self.path = path
        self.max_bytes = max_bytes
        self.max_files = max_files
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        self._open()

    def _open(self) -> None:
        self._fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._size = os.fstat(self._fd).st_size

    def write(self, data: bytes) -> None:
        """Append whole entries. A full disk loses output but never stops the container."""
        try:
            if self._size and self._size + len(data) > self.max_bytes:
                self._rotate()
            self._size += os.write(self._fd, data)
        except OSError:
            return

    def _rotate(self) -> None:
        for number in range(self.max_files - 1, 0, -1):
            older = f"{self.path}.{number - 1}" if number > 1 else self.path
            if os.path.exists(older):
                os.replace(older, f"{self.path}.{number}")
        full = self._fd
        self._open()  # where that fails, the old file is still there to be written to
        os.close(full)

    def close(self) -> None:
        os.close(self._fd)


class LineWriter:
    """Turns what comes from one stream into entries. A line without an end yet waits, at most `LONGEST_LINE` bytes of it."""

    def __init__(self, log: LogFile, stream: str) -> None:
        self._log = log
        self._stream = stream.encode()
        self._rest = b""

    def feed(self, data: bytes) -> None:
        prefix = timestamp(time.time_ns()).encode() + b" " + self._stream
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        out = [entry for line in lines for entry in self._entries(prefix, line)]
        while len(self._rest) >= LONGEST_LINE:
            out.append(prefix + b" P " + self._rest[:LONGEST_LINE] + b"\n")
            self._rest = self._rest[LONGEST_LINE:]
        if out:
            self._log.write(b"".join(out))

    def _entries(self, prefix: bytes, line: bytes) -> list[bytes]:
        parts = [line[at : at + LONGEST_LINE] for at in range(0, len(line), LONGEST_LINE)] or [b""]
        return [prefix + (b" F " if part is parts[-1] else b" P ") + part + b"\n" for part in parts]

    def finish(self) -> None:
        """The stream ended: what waits becomes a line, as containerd does."""
        if self._rest:
            prefix = timestamp(time.time_ns()).encode() + b" " + self._stream
            self._log.write(prefix + b" P " + self._rest + b"\n")
            self._rest = b""
