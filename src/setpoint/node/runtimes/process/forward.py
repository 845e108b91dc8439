"""The way from a pod's own network to the API server, wherever that listens: on the host's loopback, most of the time.

In every pod the `kubernetes` service's address is one of its own; a listener there, made inside the pod's network, is served
here. So in-cluster clients find the server at the address that its certificate names. It rests while the agent does.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket

from setpoint.kit import logs
from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks

CHUNK = 64 * 1024
_PAUSE = 0.1  # seconds after an accept that failed (no descriptors left, say)
_CONNECTIONS = 256
"""Of one pod at a time, since each takes two of the agent's descriptors; more wait to be accepted."""
log = logs.get_logger("node.process")


class ApiForward:
    """`add` and `drop` listeners by pod; `run` serves them until it is cancelled, then all connections end."""

    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port
        self._listeners: dict[str, socket.socket] = {}
        self._serving: dict[str, asyncio.Task[None]] = {}
        self._tasks: Tasks | None = None
        self._clock: Clock

    def add(self, pod_uid: str, listener: socket.socket) -> None:
        self.drop(pod_uid)
        listener.setblocking(False)
        self._listeners[pod_uid] = listener
        self._serve(pod_uid)

    def drop(self, pod_uid: str) -> None:
        if (task := self._serving.pop(pod_uid, None)) is not None:
            task.cancel()
        if (listener := self._listeners.pop(pod_uid, None)) is not None:
            asyncio.get_running_loop().remove_reader(listener)
            listener.close()

    async def run(self, clock: Clock) -> None:
        self._clock = clock
        async with Tasks("pods' way to the API server") as tasks:
            self._tasks = tasks
            try:
                for pod_uid in self._listeners:
                    self._serve(pod_uid)
                await asyncio.Event().wait()
            finally:
                self._tasks = None
                self._serving.clear()
                tasks.stop()

    def close(self) -> None:
        for pod_uid in list(self._listeners):
            self.drop(pod_uid)

    def _serve(self, pod_uid: str) -> None:
        if self._tasks is not None:
            self._serving[pod_uid] = self._tasks.start(pod_uid, self._accept(self._tasks, self._listeners[pod_uid]))

    async def _accept(self, tasks: Tasks, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        places = asyncio.Semaphore(_CONNECTIONS)
        while True:
            await places.acquire()
            try:
                inner, _ = await loop.sock_accept(listener)
            except OSError as error:
                places.release()
                log.debug("a pod's connection to the API server was not taken", error=str(error))
                await self._clock.sleep(_PAUSE)
                continue
            tasks.start("connection", self._hold(inner, places))

    async def _hold(self, inner: socket.socket, places: asyncio.Semaphore) -> None:
        try:
            await self._carry(inner)
        finally:
            places.release()

    async def _carry(self, inner: socket.socket) -> None:
        """Bytes both ways until both sides have ended."""
        with contextlib.suppress(OSError):
            pod_reader, pod_writer = await asyncio.open_connection(sock=inner)
            try:
                reader, writer = await asyncio.open_connection(self._host, self._port)
            except OSError:
                pod_writer.transport.abort()  # refused, as it would be without us
                return
            try:
                await asyncio.gather(_copy(pod_reader, writer), _copy(reader, pod_writer))
            finally:
                pod_writer.close()
                writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.transport.abort()
