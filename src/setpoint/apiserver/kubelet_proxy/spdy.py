"""Clients that upgrade to SPDY/3.1 (kubectl before 1.31, programs in Go): their bytes go to the node in a WebSocket's messages.

The node ends the SPDY connection; nothing of it is looked at here. Source: apimachinery `util/httpstream` (Handshake).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aiohttp import web

from setpoint.api.machinery.status import StatusError
from setpoint.apiserver.request import Request

if TYPE_CHECKING:
    import aiohttp

    from setpoint.apiserver.aiohttp_carrier import Carrier

UPGRADE = "spdy/3.1"
PREFIX = "SPDY/3.1+"  # of the WebSocket's protocol, before that of the streams
_CHUNK = 32 * 1024
_ANSWER = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: {}\r\n\r\n"


def protocol_of(request: Request, served: Sequence[str]) -> str:
    """The first of the client's protocols of streams that is served; raises StatusError 403."""
    offered = [word.strip() for word in request.header("x-stream-protocol-version").split(",")]
    for protocol in offered:
        if protocol and protocol in served:
            return protocol
    names = f"client supports [{' '.join(offered)}], server accepts [{' '.join(served)}]"
    raise StatusError(403, "Forbidden", f"unable to upgrade: unable to negotiate protocol: {names}")


class _Rest(asyncio.StreamReaderProtocol):
    """Reads what comes after the upgrade. Who had the connection before keeps count of it, and is told of its end."""

    def __init__(self, reader: asyncio.StreamReader, before: asyncio.BaseProtocol) -> None:
        super().__init__(reader)
        self._before = before

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._before.connection_lost(exc)


class _Given(web.StreamResponse):
    """The answer that was given already, on a connection that is HTTP's no more."""

    async def prepare(self, request: web.BaseRequest) -> Any:
        """Nothing goes out before it."""

    async def write_eof(self, data: bytes = b"") -> None:
        """Nothing goes out after it."""


async def relay(carrier: Carrier, node: aiohttp.ClientWebSocketResponse, protocol: str) -> None:
    """Answer the upgrade, then pass bytes on until one side ends; then end the other."""
    transport = carrier.request.transport
    if transport is None:
        return
    carrier.response = answer = _Given()
    answer.force_close()
    reader = asyncio.StreamReader()
    rest = _Rest(reader, carrier.request.protocol)
    transport.set_protocol(rest)
    rest.connection_made(transport)
    writer = asyncio.StreamWriter(transport, rest, reader, asyncio.get_running_loop())
    writer.write(_ANSWER.format(protocol).encode())
    try:
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(_up(reader, node), name="kubelet-proxy/up")
            await _down(node, writer)
            reading.cancel()
    except* (ConnectionError, RuntimeError):
        pass  # a side is gone: nothing is left to pass on
    finally:
        writer.close()


async def _up(reader: asyncio.StreamReader, node: aiohttp.ClientWebSocketResponse) -> None:
    while data := await reader.read(_CHUNK):
        await node.send_bytes(data)
    await node.close()


async def _down(node: aiohttp.ClientWebSocketResponse, writer: asyncio.StreamWriter) -> None:
    import aiohttp

    async for message in node:
        if message.type is aiohttp.WSMsgType.BINARY:
            writer.write(message.data)
            await writer.drain()
