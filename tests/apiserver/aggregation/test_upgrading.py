"""Streams over WebSockets, passed on both ways."""

from __future__ import annotations

from collections.abc import Mapping

import aiohttp
import pytest
from aiohttp import web
from tests.apiserver.aggregation.conftest import METRICS, Api
from tests.apiserver.whole import ADMIN

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.aggregation import upgrading
from setpoint.apiserver.authentication.certificates import Peer
from setpoint.apiserver.http import HttpServer

_TOKEN = "base64url.bearer.authorization.k8s.io.dG9rZW4"
_STREAM = f"{METRICS}/namespaces/default/things/a/stream"


class Everybody:
    """An authenticator that knows the administrator in everyone."""

    async def authenticate(self, path: str, headers: Mapping[str, str], peer: Peer | None) -> UserInfo:
        return ADMIN


async def _echo(request: web.BaseRequest) -> web.StreamResponse:
    socket = web.WebSocketResponse(protocols=("v5.channel.k8s.io",))
    await socket.prepare(request)
    assert "bearer" not in request.headers["Sec-WebSocket-Protocol"]
    await socket.send_str(request.headers["X-Remote-User"])
    async for message in socket:
        if message.type is aiohttp.WSMsgType.BINARY:
            await socket.send_bytes(b"back " + message.data)
            break
    await socket.close()
    return socket


async def test_frames_pass_both_ways(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    api.other.answers[_STREAM] = _echo
    await api.serve()
    await api.register()
    await api.condition("Passed")
    server = HttpServer(api.pipeline, Everybody())
    port = await server.start("127.0.0.1", 0, None)
    try:
        url = f"http://127.0.0.1:{port}{_STREAM}"
        async with aiohttp.ClientSession() as session:
            async with session.ws_connect(url, protocols=(_TOKEN, "v5.channel.k8s.io")) as socket:
                assert socket.protocol == "v5.channel.k8s.io"
                assert await socket.receive_str() == "admin"
                await socket.send_bytes(b"hello")
                assert await socket.receive_bytes() == b"back hello"
                assert (await socket.receive()).type is aiohttp.WSMsgType.CLOSE
            monkeypatch.setattr(upgrading, "MAX_MESSAGE", 1024)
            async with session.ws_connect(url, protocols=(_TOKEN, "v5.channel.k8s.io")) as socket:
                await socket.receive_str()
                await socket.send_bytes(b"x" * 10_000)
                assert (await socket.receive()).data == aiohttp.WSCloseCode.MESSAGE_TOO_BIG
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await session.ws_connect(f"http://127.0.0.1:{port}{METRICS}/nothing")
            assert refused.value.status == 404
            async with session.post(url, headers={"Connection": "Upgrade", "Upgrade": "websocket"}) as answer:
                assert answer.status == 405
    finally:
        await server.stop(0.1)
