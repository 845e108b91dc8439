"""Forwarded ports on the wire of SPDY: which streams make a connection, and what is left of those that make none."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from setpoint.kit.tasks import Tasks
from setpoint.node.server.port_forward import TUNNEL, Tunnel
from setpoint.node.server.spdy.frames import FIN, Data, Decoder, Encoder, Ended, Frame, Reset


class Echo:
    """Instead of a pod: what is sent comes back, but port 81 has nobody."""

    def __init__(self) -> None:
        self.tunnels: list[Tunnel] = []

    async def carry(self, port: int, read: Any, write: Any, complain: Any) -> None:
        if port == 81:
            await complain(b"nobody there")
            return
        while data := await read():
            await write(data)

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(protocols=(TUNNEL,))
        await socket.prepare(request)
        async with Tasks("test") as tasks:
            self.tunnels.append(Tunnel(socket, self, tasks))  # type: ignore[arg-type]  # of a target only this is used
            await self.tunnels[-1].run()
            tasks.stop()
        return socket


class Peer:
    """A client whose frames go out in one message each."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._encoder, self._decoder = Encoder(), Decoder()
        self._heard: list[Frame] = []

    async def open(self, number: int, kind: str, port: str = "80", request: str = "0") -> None:
        headers = {"streamType": kind, "port": port, **({"requestID": request} if request else {})}
        await self.say(self._encoder.opened(number, headers))

    async def say(self, data: bytes) -> None:
        await self._socket.send_bytes(data)

    async def heard(self) -> Frame:
        while not self._heard:
            self._heard += self._decoder.feed(await self._socket.receive_bytes(timeout=10))
        return self._heard.pop(0)


@pytest.fixture
async def echo() -> Echo:
    return Echo()


@pytest.fixture
async def peer(echo: Echo) -> Any:
    app = web.Application()
    app.router.add_get("/", echo.serve)
    async with TestClient(TestServer(app)) as client, client.ws_connect("/", protocols=(TUNNEL,)) as socket:
        yield Peer(socket)


@pytest.mark.parametrize("request_id", ["7", ""], ids=["named", "by their order"])
async def test_two_streams_make_a_connection(peer: Peer, request_id: str) -> None:
    await peer.open(1, "error", request=request_id)
    await peer.say(Encoder.data(1, b"", fin=True))
    await peer.open(3, "data", request=request_id)
    assert [await peer.heard() for _ in range(2)] == [Ended(1, fin=False), Ended(3, fin=False)]
    await peer.say(Encoder.data(3, b"hello"))
    assert await peer.heard() == Data(3, b"hello")
    await peer.say(Encoder.data(3, b"", fin=True))
    assert [await peer.heard() for _ in range(2)] == [Data(3, b"", fin=True), Data(1, b"", fin=True)]


async def test_what_goes_wrong_is_said_on_the_error_stream(peer: Peer) -> None:
    await peer.open(1, "error", port="81")
    await peer.open(3, "data", port="81")
    found = [await peer.heard() for _ in range(6)]
    assert found[2:] == [Data(1, b"nobody there"), Data(3, b"", fin=True), Data(1, b"", fin=True), Reset(3)]


@pytest.mark.parametrize(("kind", "port"), [("data", "0"), ("data", "65536"), ("data", "http"), ("data", ""), ("other", "80")])
async def test_streams_that_are_refused(peer: Peer, kind: str, port: str) -> None:
    await peer.open(1, kind, port)
    assert await peer.heard() == Reset(1)


async def test_a_second_stream_of_a_kind_is_refused(peer: Peer) -> None:
    await peer.open(1, "error")
    await peer.open(3, "error")
    assert [await peer.heard() for _ in range(2)] == [Ended(1, fin=False), Reset(3)]


async def test_half_a_pair_that_was_reset_is_forgotten(peer: Peer, echo: Echo) -> None:
    for number in range(1, 101, 2):
        await peer.open(number, "error", request=f"r{number}")
        await peer.heard()
        await peer.say(Encoder.reset(number, FIN))
    await peer.open(201, "error", request="last")
    await peer.heard()
    assert list(echo.tunnels[0]._pairs) == ["last"]


async def test_what_is_no_spdy_ends_the_tunnel(peer: Peer) -> None:
    await peer.say(b"GET / HTTP/1.1\r\n\r\n")
    with pytest.raises((TypeError, aiohttp.WSMessageTypeError)):
        await asyncio.wait_for(peer.heard(), 10)
