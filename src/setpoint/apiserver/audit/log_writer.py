"""The process that writes the audit log: reads events from its standard input, a socket, and answers what became of them.

It goes on until the socket is at its end, whatever became of the API server: what that had sent is written.
Each message is its length (four bytes, the first the highest) and a MessagePack array of events.
"""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import IO

import msgspec
from msgspec import Struct

from setpoint.apiserver.audit.event import Event
from setpoint.apiserver.audit.lines import lines
from setpoint.apiserver.audit.log_file import LogFile, Rotation

LENGTH = 4  # bytes
_decoder = msgspec.msgpack.Decoder(list[Event])


class Written(Struct):
    """What became of a message; a line of JSON. `error` is why it could not be written."""

    error: str = ""


def main(arguments: list[str]) -> None:
    """`arguments`: the file's path, MiB, number and days of old files, and its descriptor."""
    for ended_by in (signal.SIGINT, signal.SIGTERM):  # that is for the API server: this process ends after it
        signal.signal(ended_by, signal.SIG_IGN)
    path, *rotation, descriptor = arguments
    file = LogFile(path, Rotation(*map(int, rotation)), int(descriptor))
    connection = socket.socket(fileno=0)
    with connection, connection.makefile("rb") as incoming:
        for message in _messages(incoming):
            error = _append(file, message)
            with suppress(OSError):  # nobody is there any more
                connection.sendall(msgspec.json.encode(Written(error)) + b"\n")
    file.close()


def _messages(incoming: IO[bytes]) -> Iterator[bytes]:
    with suppress(ConnectionResetError):  # the other side went without reading our answers
        while len(length := incoming.read(LENGTH)) == LENGTH:
            size = int.from_bytes(length, "big")
            message = incoming.read(size)
            if len(message) < size:
                return
            yield message


def _append(file: LogFile, message: bytes) -> str:
    """Write a message's events; what is wrong where that cannot be."""
    try:
        file.append(b"".join(lines(_decoder.decode(message))))
    except OSError as error:
        return error.strerror or str(error)
    except Exception as error:  # noqa: BLE001  what cannot be told must not take along what comes after it
        return f"{type(error).__name__}: {error}"
    return ""


if __name__ == "__main__":
    main(sys.argv[1:])
