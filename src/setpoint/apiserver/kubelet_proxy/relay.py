"""What passes between a client's WebSocket and a node's, or is said to the client where there is no node to talk to."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.apiserver.request import Request

if TYPE_CHECKING:
    import aiohttp
    from aiohttp import web

ERROR = 3  # the channel of the final Status
V5, V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"
# kubectl before 1.34 begins to read before it has made its streams, and throws away what comes too early. Kubernetes' API server
# calls the node only after it has answered the client, which takes about as long. A pong tells that the client reads; a moment
# later its streams are there. One that sends no pong is not waited for. Both in seconds.
_PONG, _MOMENT = 0.25, 0.01


class Served(Struct, frozen=True):
    """The forms of one kind of stream: a WebSocket's protocols, best first, and what SPDY's streams may be."""

    web_socket: Sequence[str]
    spdy: Sequence[str]

    def chosen(self, request: Request) -> str:
        """The best that the client offers; raises StatusError 400."""
        offered = [word.strip() for word in request.header("sec-websocket-protocol").split(",")]
        for protocol in self.web_socket:
            if protocol in offered:
                return protocol
        names = [*filter(None, offered)]
        raise StatusError(400, "BadRequest", f"unable to upgrade: none of the protocols is served: {names}")


PROCESS = Served((V5, V4), (V4,))
#: kubectl's WebSockets carry SPDY's streams; clients in Python have a channel for each port, and some no name for that
FORWARDED = Served(("SPDY/3.1+portforward.k8s.io", V4, ""), ("portforward.k8s.io",))


class Relay:
    """One client, that was just answered."""

    def __init__(self, client: web.WebSocketResponse) -> None:
        self._client = client
        self._pong = asyncio.Event()

    async def run(self, node: aiohttp.ClientWebSocketResponse) -> None:
        """Pass frames both ways until one side ends; then end the other. Cancellation closes both."""
        try:
            await self._both(self._up(node), self._down(node))
        finally:
            await node.close()

    async def refuse(self, error: StatusError) -> None:
        """Say on the open stream that there will be none (the stream translator's way): kubectl takes a refused upgrade for a
        server that speaks SPDY only.
        """
        await self._both(self._up(None), self._say(error))

    async def _both(self, up: Coroutine[Any, Any, None], down: Coroutine[Any, Any, None]) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                reading = group.create_task(up, name="kubelet-proxy/up")
                await down
                reading.cancel()
        except* (ConnectionError, RuntimeError):
            pass  # the other side is gone: nothing is left to pass on
        finally:
            await self._client.close()

    async def _up(self, node: aiohttp.ClientWebSocketResponse | None) -> None:
        import aiohttp

        kinds = aiohttp.WSMsgType
        async for message in self._client:
            if message.type is kinds.PING:
                await self._client.pong(message.data)
            elif message.type is kinds.PONG:
                self._pong.set()
            elif message.type is kinds.BINARY and node is not None:
                await node.send_bytes(message.data)
            elif message.type is kinds.TEXT and node is not None:
                await node.send_str(message.data)
        if node is not None:
            await node.close()

    async def _down(self, node: aiohttp.ClientWebSocketResponse) -> None:
        import aiohttp

        await self._settle()
        async for message in node:
            if message.type is aiohttp.WSMsgType.BINARY:
                await self._client.send_bytes(message.data)
            elif message.type is aiohttp.WSMsgType.TEXT:
                await self._client.send_str(message.data)
        await self._client.close()

    async def _say(self, error: StatusError) -> None:
        await self._settle()
        await self._client.send_bytes(bytes([ERROR]) + orjson.dumps(error.status()))
        await self._client.close()

    async def _settle(self) -> None:
        if self._client.ws_protocol != V5:
            return
        await self._client.ping()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PONG):
                await self._pong.wait()
        await asyncio.sleep(_MOMENT)
