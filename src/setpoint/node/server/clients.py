"""The forms in which the streams of exec and attach go over a WebSocket.

`v5.channel.k8s.io` and `v4.channel.k8s.io`: the first byte of a frame is its channel: 0 input, 1 output, 2 errors, 3 the final
Status, 4 terminal size, and in v5 255, with which the client closes a channel ([255, 0]: end of input). With `SPDY/3.1+` before
the name, frames carry a SPDY connection that the API server took from a client which knows no WebSockets; there each channel is a
stream of its own, named by the header `streamType`. Source: apimachinery's remotecommand constants, KEP-4006, and kubelet's
`cri-streaming/pkg/streaming/remotecommand`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Protocol

import aiohttp
from aiohttp import web

from setpoint.kit.tasks import Tasks
from setpoint.node.runtime import ExecSpec
from setpoint.node.server.spdy import Connection, ProtocolError, Stream

V5, V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"
SPDY = f"SPDY/3.1+{V4}"
PROTOCOLS = (V5, V4, SPDY)
STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
_STREAMS = {"stdin": STDIN, "stdout": STDOUT, "stderr": STDERR, "error": ERROR, "resize": RESIZE}
_OPENING = 30.0  # seconds in which a client opens all its streams, as kubelet's streamCreationTimeout


class Client(Protocol):
    """Who watches a process. `answer` is the WebSocket that it came by."""

    answer: web.WebSocketResponse

    async def send(self, channel: int, data: bytes) -> None:
        """Raises ConnectionError when nobody listens any more."""

    def frames(self) -> AsyncIterator[tuple[int, bytes]]:
        """What comes: input, terminal sizes, (CLOSE, the channel); it ends when the client goes."""

    async def close(self) -> None: ...


async def accept(request: web.Request, spec: ExecSpec, tasks: Tasks) -> Client:
    """Answer the upgrade; with SPDY, wait for the streams that belong to `spec`. Raises ConnectionError."""
    socket = web.WebSocketResponse(protocols=PROTOCOLS, max_msg_size=0, compress=False)
    await socket.prepare(request)
    if socket.ws_protocol != SPDY:
        return _Frames(socket)
    client = _Streams(socket)
    tasks.start("SPDY", client.run())
    await client.opened(spec)
    return client


class _Frames:
    """Channels by the first byte of a frame."""

    def __init__(self, socket: web.WebSocketResponse) -> None:
        self.answer = socket

    async def send(self, channel: int, data: bytes) -> None:
        await self.answer.send_bytes(bytes([channel]) + data)

    async def frames(self) -> AsyncIterator[tuple[int, bytes]]:
        async for message in self.answer:
            frame = (
                message.data.encode() if message.type is aiohttp.WSMsgType.TEXT else message.data
            )  # clients in Python send text
            if frame and (frame[0] != CLOSE or self.answer.ws_protocol == V5):
                yield frame[0], frame[1:]

    async def close(self) -> None:
        await self.answer.close()


class _Streams:
    """Channels as streams of a SPDY connection."""

    def __init__(self, socket: web.WebSocketResponse) -> None:
        self.answer = socket
        self._streams: dict[int, Stream] = {}
        self._connection = Connection(socket.send_bytes, self._take)
        self._came = asyncio.Event()
        self._gone = asyncio.Event()

    async def run(self) -> None:
        """Read until the client goes."""
        try:
            async for message in self.answer:
                if message.type is aiohttp.WSMsgType.BINARY:
                    await self._connection.feed(message.data)
        except (ConnectionError, ProtocolError):
            pass
        finally:
            self._gone.set()
            self._connection.end()
            self._came.set()

    def _take(self, stream: Stream) -> bool:
        channel = _STREAMS.get(stream.headers.get("streamtype", ""))
        if channel is None or channel in self._streams:
            return False
        self._streams[channel] = stream
        self._came.set()
        return True

    async def opened(self, spec: ExecSpec) -> None:
        """Wait for every stream that was asked for."""
        wanted = {ERROR: True, STDIN: spec.stdin, STDOUT: spec.stdout, STDERR: spec.stderr and not spec.tty, RESIZE: spec.tty}
        needed = {channel for channel, asked in wanted.items() if asked}
        try:
            async with asyncio.timeout(_OPENING):
                while not self._gone.is_set() and not needed <= self._streams.keys():
                    self._came.clear()
                    await self._came.wait()
        except TimeoutError:
            self._gone.set()
        if self._gone.is_set():
            await self.answer.close()
            raise ConnectionResetError("the client did not open its streams")

    async def send(self, channel: int, data: bytes) -> None:
        if (stream := self._streams.get(channel)) is not None:
            await stream.write(data)

    async def frames(self) -> AsyncIterator[tuple[int, bytes]]:
        came: asyncio.Queue[tuple[int, bytes] | None] = asyncio.Queue(1)

        async def read(channel: int, stream: Stream) -> None:
            while data := await stream.read():
                await came.put((channel, data))
            await came.put((CLOSE, bytes([channel])))

        async def end() -> None:
            await self._gone.wait()
            await came.put(None)

        async with Tasks("SPDY input") as tasks:
            for channel in (STDIN, RESIZE):
                if channel in self._streams:
                    tasks.start(f"channel {channel}", read(channel, self._streams[channel]))
            tasks.start("end", end())
            while (frame := await came.get()) is not None:
                yield frame
            tasks.stop()

    async def close(self) -> None:
        for stream in [*self._streams.values()]:
            await stream.close()
        await self.answer.close()
