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
        self._sending = asyncio.Lock()  # a line that does not go out at once must not have another in its middle
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
            async with self._sending:
                await self._send(data, descriptors)
            answer = await future
        finally:
            self._waiting.pop(number, None)
            if future.done() and not future.cancelled():
                future.exception()  # raised above, or what was raised there says the same
        if "error" in answer:
            kind = LookupError if answer.get("kind") == "LookupError" else OSError
            raise kind(answer["error"])
        return answer

    async def _send(self, data: bytes, descriptors: tuple[int, ...]) -> None:
        """Send all of it; a line that was cut off would garble every later one, so that then the connection goes, too."""
        sent = 0
        try:
            while sent < len(data):
                if self._closed:
                    raise SupervisorGone(self.directory)
                try:
                    sent += socket.send_fds(self._channel, [data[sent:]], () if sent else descriptors)
                except BlockingIOError:
                    await self._writable()
        except OSError as error:
            self._lost()
            raise SupervisorGone(self.directory) from error
        except asyncio.CancelledError:
            if sent:
                self._lost()
            raise

    async def _writable(self) -> None:
        ready, channel = asyncio.Event(), self._channel.fileno()
        self._loop.add_writer(channel, ready.set)
        try:
            await ready.wait()
        finally:
            if not self._closed:
                self._loop.remove_writer(channel)

    def exit_of(self, exec_name: str) -> asyncio.Future[int]:
        """The exit code of an exec; ask for it before the exec is started."""
        return self._execs.setdefault(exec_name, self._loop.create_future())

    def forget(self, exec_name: str) -> None:
        self._execs.pop(exec_name, None)

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
            self._answer(message)

    def _answer(self, message: Mapping[str, Any]) -> None:
        """Hand an answer, with the descriptors that came beside it, to whoever asked and still waits."""
        count = message["descriptors"]
        descriptors, self._descriptors = self._descriptors[:count], self._descriptors[count:]
        waiting = self._waiting.get(message["id"])
        if waiting is not None and not waiting.done():
            waiting.set_result({**message, "descriptors": descriptors})
            return
        for descriptor in descriptors:
            os.close(descriptor)

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
        self._loop.remove_writer(self._channel.fileno())
        self._channel.close()
        for descriptor in self._descriptors:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._descriptors.clear()
