"""Requests that take over the connection, passed on to another server: WebSockets, frame by frame, both ways."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from setpoint.apiserver.aggregation.proxy import headers_of, refused, target_of
from setpoint.apiserver.bounds import MAX_MESSAGE
from setpoint.apiserver.request import Request, Response
from setpoint.kit.tasks import Tasks

if TYPE_CHECKING:
    import ssl

    import aiohttp
    from aiohttp import web
    from yarl import URL

    from setpoint.apiserver.aggregation.backend import Backend, Headers
    from setpoint.apiserver.aggregation.registration import Registration

_HANDSHAKE = "sec-websocket-"
_ANSWER = 30.0  # seconds in which the stream must begin


class NotUpgraded(Exception):
    """No stream came of a request: `code` is the HTTP status that says so."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


async def relay(backend: Backend, server: Registration, request: Request) -> Response:
    """A stream to the server behind an APIService."""
    import aiohttp

    url = f"{server.url}{target_of(request)}"
    try:
        return await pass_on(backend.session(), url, request, headers_of(request), backend.trust(server))
    except NotUpgraded as error:
        return refused(str(error), error.code)
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        return refused(f"error trying to reach service: {backend.why(server, error)}")


async def pass_on(
    session: aiohttp.ClientSession, url: str | URL, request: Request, headers: Headers, tls: ssl.SSLContext | bool
) -> Response:
    """Open the same stream at `url`, then pass frames on until either side ends.

    Raises NotUpgraded, and what aiohttp says of a server that cannot be reached.
    """
    import aiohttp
    from aiohttp import web

    from setpoint.apiserver.aiohttp_carrier import Carrier

    if request.method != "GET":  # a WebSocket is opened by GET, whatever right was asked for
        raise NotUpgraded(405, "unable to upgrade connection: WebSockets are opened by GET")
    if request.header("upgrade").lower() != "websocket" or not isinstance(request.carrier, Carrier):
        raise NotUpgraded(400, "unable to upgrade connection: only WebSockets can be passed on")
    protocols = tuple(word.strip() for word in request.header("sec-websocket-protocol").split(",") if word.strip())
    kept = [(name, value) for name, value in headers if not name.lower().startswith(_HANDSHAKE)]
    try:
        async with asyncio.timeout(_ANSWER):
            upstream = await session.ws_connect(
                url, protocols=protocols, headers=kept, ssl=tls, max_msg_size=MAX_MESSAGE, autoclose=False
            )
    except aiohttp.WSServerHandshakeError as error:
        raise NotUpgraded(error.status, error.message) from error
    chosen = (upstream.protocol,) if upstream.protocol else ()
    client = web.WebSocketResponse(protocols=chosen, max_msg_size=MAX_MESSAGE, compress=False)
    try:
        await client.prepare(request.carrier.request)
        request.carrier.response = client
        await _both_ways(client, upstream)
    finally:
        await upstream.close()
        await client.close()
    return Response(101, {})


async def _both_ways(client: web.WebSocketResponse, upstream: aiohttp.ClientWebSocketResponse) -> None:
    try:
        async with Tasks("passed-on stream") as tasks:
            tasks.start("up", _pass(client, upstream))
            await _pass(upstream, client)
            tasks.stop()
    except* (ConnectionError, RuntimeError):
        pass  # a side is gone: nothing is left to pass on


async def _pass(source: Any, sink: Any) -> None:
    import aiohttp

    async for message in source:
        if message.type is aiohttp.WSMsgType.BINARY:
            await sink.send_bytes(message.data)
        elif message.type is aiohttp.WSMsgType.TEXT:
            await sink.send_str(message.data)
    await sink.close()
