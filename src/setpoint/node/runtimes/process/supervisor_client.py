"""The agent's side of a supervisor's socket: requests with answers, events, descriptors both ways."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Callable, Mapping
from typing import Any

from setpoint.node.supervisor import procfs, records


class SupervisorGone(ConnectionError):
    """The supervisor does not answer any more: it ended, or was killed."""


def connect(directory: str) -> socket.socket:
    """A connection to the supervisor in a pod's directory; raises OSError. The path's length does not matter (Linux)."""
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        channel.connect(f"/proc/self/fd/{handle}/{records.SOCKET}")
    except OSError:
        channel.close()
        raise
    finally:
        os.close(handle)
    channel.setblocking(False)
    return channel


def stands(directory: str) -> bool:
    """Whether the supervisor that wrote its record here still runs, on this boot of the host."""
    identity = records.read(os.path.join(directory, records.SUPERVISOR))
    if identity is None or identity.get("bootID") != procfs.boot_id():
        return False
    return procfs.alive(int(identity["pid"]), int(identity["startTicks"]))


class SupervisorClient:
    """One connection. `on_event` gets exits; `on_close` is called once when the supervisor is gone."""

    def __init__(self, directory: str, on_event: Callable[[Mapping[str, Any]], None], on_close: Callable[[], None]) -> None:
        self.directory = directory
        self._on_event = on_event
        self._on_close = on_close
        self._channel = connect(directory)
        self._buffer = b""
        self._descriptors: list[int] = []
        self._waiting: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._execs: dict[str, asyncio.Future[int]] = {}
        self._next = 0
        self._closed = False
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._channel.fileno(), self._readable)

    async def request(self, do: str, descriptors: tuple[int, ...] = (), **arguments: Any) -> Mapping[str, Any]:
        """Ask and wait for the answer; raises SupervisorGone, LookupError, OSError with the supervisor's words.

        Cancelled, the request may still be carried out.
        """
        if self._closed:
            raise SupervisorGone(self.directory)
        self._next += 1
        number = self._next
        future: asyncio.Future[Mapping[str, Any]] = self._loop.create_future()
        self._waiting[number] = future
        data = json.dumps({"id": number, "do": do, **arguments}).encode() + b"\n"
        try:
            sent = socket.send_fds(self._channel, [data], descriptors)
            if sent < len(data):
                await self._loop.sock_sendall(self._channel, data[sent:])
        except OSError as error:
            self._lost()
            raise SupervisorGone(self.directory) from error
        try:
            answer = await future
        finally:
            self._waiting.pop(number, None)
        if "error" in answer:
            kind = LookupError if answer.get("kind") == "LookupError" else OSError
            raise kind(answer["error"])
        return answer

    def exit_of(self, exec_name: str) -> asyncio.Future[int]:
        """The exit code of an exec; ask for it before the exec is started."""
        return self._execs.setdefault(exec_name, self._loop.create_future())

    def forget(self, exec_name: str) -> None:
        self._execs.pop(exec_name, None)

    def take_descriptor(self) -> int:
        """The descriptor that came with the last answer, -1 if none."""
        return self._descriptors.pop(0) if self._descriptors else -1

    def _readable(self) -> None:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._channel, 256 * 1024, 16)
        except BlockingIOError:
            return
        except OSError:
            data, descriptors = b"", []
        self._descriptors += descriptors
        if not data:
            self._lost()
            return
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            self._take(json.loads(line))

    def _take(self, message: Mapping[str, Any]) -> None:
        if message.get("event") == "exec":
            future = self._execs.get(message["exec"])
            if future is not None and not future.done():
                future.set_result(message["code"])
        elif "event" in message:
            self._on_event(message)
        else:
            waiting = self._waiting.get(message["id"])
            if waiting is not None and not waiting.done():
                waiting.set_result(message)

    def _lost(self) -> None:
        if self._closed:
            return
        self.close()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(SupervisorGone(self.directory))
        for code in self._execs.values():
            if not code.done():
                code.set_result(137)
        self._on_close()

    def close(self) -> None:
        """Let go; the supervisor goes on."""
        if self._closed:
            return
        self._closed = True
        self._loop.remove_reader(self._channel.fileno())
        self._channel.close()
        for descriptor in self._descriptors:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._descriptors.clear()
