"""`/portForward`: connections to ports inside a pod, over a WebSocket.

Two forms. `SPDY/3.1+portforward.k8s.io` (kubectl 1.31 and newer) carries a SPDY connection in its messages; for each forwarded
connection the client opens two streams with one `requestID`: `error`, for what goes wrong, and `data`. `v4.channel.k8s.io`
(clients in Python) has for the n-th port of the query the channels 2n, data, and 2n + 1, errors; on both the first message is the
port, two bytes with the lower one first. Source: kubelet's `cri-client/pkg/…/portforward` and KEP-4006.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Awaitable, Callable

import aiohttp
from aiohttp import web
from msgspec import Struct

from setpoint.kit.tasks import Tasks
from setpoint.node.runtime import NotRunning
from setpoint.node.server.keys import AGENT
from setpoint.node.server.lookup import pod_of
from setpoint.node.server.spdy import Connection, ProtocolError, Stream
from setpoint.node.worker import PodWorker

TUNNEL, CHANNELS = "SPDY/3.1+portforward.k8s.io", "v4.channel.k8s.io"
PROTOCOLS = (TUNNEL, CHANNELS)
_CHUNK = 32 * 1024
_MOST_PORTS = 127  # two channels each, which are numbered by one byte

Read = Callable[[], Awaitable[bytes]]
Write = Callable[[bytes], Awaitable[None]]


async def serve(request: web.Request) -> web.StreamResponse:
    worker = pod_of(request)
    offered = request.headers.get("Sec-WebSocket-Protocol", "").split(",")
    ports = [] if TUNNEL in map(str.strip, offered) else _ports(request)
    client = web.WebSocketResponse(protocols=PROTOCOLS, max_msg_size=0, compress=False)
    await client.prepare(request)
    async with Tasks("port-forward") as tasks:
        target = Target(request.app[AGENT].runtime.dial, worker)
        try:
            if client.ws_protocol == TUNNEL:
                await Tunnel(client, target, tasks).run()
            else:
                await Channels(client, target, tasks, ports).run()
        except ConnectionError:
            pass  # the client is gone
        finally:
            tasks.stop()
            await client.close()
    return client


def _ports(request: web.Request) -> list[int]:
    """The ports of the query; raises HTTPBadRequest."""
    words = [word for value in request.query.getall("port", []) for word in value.split(",")]
    if not words:
        raise web.HTTPBadRequest(text='query parameter "port" is required')
    ports = [_port(word) for word in words]
    if 0 in ports:
        raise web.HTTPBadRequest(text=f'query parameter "port" is no port: {words[ports.index(0)]!r}')
    if len(ports) > _MOST_PORTS:
        raise web.HTTPBadRequest(text=f'query parameter "port" may be given {_MOST_PORTS} times at the most')
    return ports


def _port(word: str) -> int:
    """0 for what is none."""
    return int(word) if word.isascii() and word.isdigit() and len(word) <= 5 and int(word) <= 65535 else 0


class Target(Struct, frozen=True):
    """The pod, and how its ports are reached."""

    dial: Callable[[str, int], Awaitable[socket.socket]]
    worker: PodWorker

    async def carry(self, port: int, read: Read, write: Write, complain: Write) -> None:
        """Bytes both ways between a client and a port of the pod until both have ended; what goes wrong is told the client."""
        try:
            inner = await self.dial(self.worker.uid, port)
        except (OSError, NotRunning) as error:
            meta = self.worker.core.pod.metadata
            pod = f"{meta.name}_{meta.namespace}"
            await complain(f"error forwarding port {port} to pod {pod}, uid {meta.uid}: {error}".encode())
            return
        reader, writer = await asyncio.open_connection(sock=inner)
        try:
            async with Tasks("forwarded connection") as tasks:
                tasks.start("to the pod", _to_pod(read, writer))
                await _from_pod(reader, write)
                tasks.stop()  # as kubelet's runtimes: what the pod's process ended is over
        finally:
            writer.close()


async def _to_pod(read: Read, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await read():
            writer.write(data)
            await writer.drain()
        writer.write_eof()


async def _from_pod(reader: asyncio.StreamReader, write: Write) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK):
            await write(data)


class Pair(Struct):
    """The two streams of one forwarded connection, as they come."""

    error: Stream | None = None
    data: Stream | None = None

    @property
    def given_up(self) -> bool:
        """Whether the client reset the stream that is there."""
        return all(stream is None or stream.closed for stream in (self.error, self.data))


class Tunnel:
    """A SPDY connection in a WebSocket's messages, whose ends are not those of its frames."""

    def __init__(self, client: web.WebSocketResponse, target: Target, tasks: Tasks) -> None:
        self._client = client
        self._target = target
        self._tasks = tasks
        self._pairs: dict[str, Pair] = {}

    async def run(self) -> None:
        """Until the client goes, or says what is no SPDY."""
        connection = Connection(self._client.send_bytes, self._opened)
        try:
            async for message in self._client:
                if message.type is aiohttp.WSMsgType.BINARY:
                    await connection.feed(message.data)
        except ProtocolError:
            pass
        finally:
            connection.end()

    def _opened(self, stream: Stream) -> bool:
        """Whether a stream is one of ours; with the second one of a pair its connection begins."""
        kind, port = stream.headers.get("streamtype", ""), _port(stream.headers.get("port", ""))
        if kind not in {"error", "data"} or not port:
            return False
        # old clients name no request: their data stream is the one after the error stream
        request = stream.headers.get("requestid") or str(stream.number - (2 if kind == "data" else 0))
        if request not in self._pairs:
            self._pairs = {name: pair for name, pair in self._pairs.items() if not pair.given_up}
        pair = self._pairs.setdefault(request, Pair())
        if getattr(pair, kind) is not None:
            return False
        setattr(pair, kind, stream)
        if pair.error is not None and pair.data is not None:
            del self._pairs[request]
            self._tasks.start(f"port {port}", self._carry(port, pair.data, pair.error))
        return True

    async def _carry(self, port: int, data: Stream, error: Stream) -> None:
        try:
            await self._target.carry(port, data.read, data.write, error.write)
            await data.close()
            await error.close()
            if not data.ended:  # the client may go on sending, to nobody
                await data.reset()
        except ConnectionError:
            pass  # the client is gone, and `run` ends


class Channels:
    """Some ports of a pod, each of them once, in the frames of one WebSocket."""

    def __init__(self, client: web.WebSocketResponse, target: Target, tasks: Tasks, ports: list[int]) -> None:
        self._client = client
        self._target = target
        self._tasks = tasks
        self._ports = ports
        self._input: list[asyncio.Queue[bytes]] = [asyncio.Queue(16) for _ in ports]

    async def run(self) -> None:
        """Until the client goes, or the pod has ended every connection."""
        for index, port in enumerate(self._ports):
            for channel in (2 * index, 2 * index + 1):
                await self._client.send_bytes(bytes([channel]) + struct.pack("<H", port))
        reading, carrying = self._tasks.start("input", self._read()), self._tasks.start("ports", self._carry_all())
        await asyncio.wait({reading, carrying}, return_when=asyncio.FIRST_COMPLETED)

    async def _carry_all(self) -> None:
        async with Tasks("forwarded ports") as tasks:
            for index, port in enumerate(self._ports):
                tasks.start(f"port {port}", self._carry(index, port))

    async def _read(self) -> None:
        async for message in self._client:
            frame = message.data.encode() if message.type is aiohttp.WSMsgType.TEXT else message.data
            if len(frame) > 1 and frame[0] % 2 == 0 and frame[0] // 2 < len(self._input):
                await self._input[frame[0] // 2].put(frame[1:])

    async def _carry(self, index: int, port: int) -> None:
        with contextlib.suppress(ConnectionError):
            await self._target.carry(port, self._input[index].get, self._writer(2 * index), self._writer(2 * index + 1))

    def _writer(self, channel: int) -> Write:
        head = bytes([channel])

        async def write(data: bytes) -> None:
            await self._client.send_bytes(head + data)

        return write
