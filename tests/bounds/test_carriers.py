"""What a connection may cost before anybody knows who is at its other end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from setpoint.api.machinery.status import StatusError, unauthorized
from setpoint.api.machinery.user import ANONYMOUS, UserInfo
from setpoint.apiserver import connection, http
from setpoint.apiserver.authentication.certificates import Peer
from setpoint.apiserver.bounds import BodyBudget, connections
from setpoint.apiserver.http import HttpServer
from setpoint.apiserver.kubelet_proxy import proxy
from setpoint.apiserver.pki import KeyPair
from setpoint.apiserver.request import Request, Response

BIG = 1024 * 1024


class Fake:
    """A pipeline that answers, and an authenticator that knows one user."""

    def __init__(self) -> None:
        self.bodies: list[int] = []
        self.asked = 0
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def authenticate(self, path: str, headers: Mapping[str, str], peer: Peer | None) -> UserInfo:
        self.asked += 1
        word = headers.get("authorization", "")
        if word == "Bearer wrong":
            raise unauthorized()
        return UserInfo("ann") if word else ANONYMOUS

    async def handle(self, request: Request) -> Response:
        self.bodies.append(len(request.body))
        await self.go_on.wait()
        return Response(200, {"Content-Type": "text/plain"}, b"ok")


class Rig:
    def __init__(self) -> None:
        self.fake = Fake()
        self.server = HttpServer(self.fake, self.fake, limit=20)
        self.port = 0

    async def open(self, text: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(text)
        await asyncio.sleep(0.01)
        return reader, writer


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    made = Rig()
    made.port = await made.server.start("127.0.0.1", 0, None)
    yield made
    await made.server.stop(0.1)


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(300):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it does not come true")


def post(size: int, token: str = "", *, chunked: bool = False) -> bytes:
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {size}"
    return f"POST /x HTTP/1.1\r\nHost: h\r\n{authorization}{length}\r\n\r\n".encode()


async def test_who_is_refused_is_refused_before_the_body(rig: Rig) -> None:
    reader, writer = await rig.open(post(BIG, "wrong"))
    async with asyncio.timeout(2):
        answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 401 Unauthorized\r\n")
    assert b"Connection: close" in answer
    assert rig.fake.bodies == []
    writer.close()


async def test_a_big_body_is_read_once_its_sender_is_known_and_asked_for_once(rig: Rig) -> None:
    reader, writer = await rig.open(post(BIG, "right"))
    assert (rig.fake.asked, rig.server.bodies.held) == (1, BIG)
    writer.write(b"x" * BIG + post(3, "right") + b"abc")
    async with asyncio.timeout(2):
        await reader.readuntil(b"ok")
        await reader.readuntil(b"ok")
    assert (rig.fake.bodies, rig.fake.asked, rig.server.bodies.held) == ([BIG, 3], 2, 0)
    writer.close()


@pytest.mark.parametrize("chunked", [False, True])
async def test_bodies_together_have_a_bound(rig: Rig, *, chunked: bool) -> None:
    rig.server.bodies = BodyBudget(4 * BIG)
    rig.fake.go_on.clear()
    body = (b"%x\r\n" % BIG + b"x" * BIG + b"\r\n0\r\n\r\n") if chunked else b"x" * BIG
    held = [await rig.open(post(BIG, "right", chunked=chunked) + body) for _ in range(4)]
    await until(lambda: len(rig.fake.bodies) == 4)
    assert rig.server.bodies.held == 4 * BIG
    reader, writer = await rig.open(post(BIG, "right", chunked=chunked) + body)
    async with asyncio.timeout(3):
        answer = await reader.readuntil(b"}")
    assert answer.startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
    assert b"Retry-After: 1\r\n" in answer
    rig.fake.go_on.set()
    for reader, other in held:
        assert b"200 OK" in await reader.readuntil(b"ok")
        other.close()
    writer.close()
    await until(lambda: rig.server.bodies.held == 0)


async def test_strangers_may_fill_a_quarter(rig: Rig) -> None:
    rig.server.bodies = BodyBudget(4 * BIG)
    _, first = await rig.open(post(BIG))
    reader, second = await rig.open(post(BIG))
    async with asyncio.timeout(2):
        assert b"429 Too Many Requests" in await reader.read()
    known, third = await rig.open(post(BIG, "right") + b"x" * BIG)
    async with asyncio.timeout(2):
        assert b"200 OK" in await known.readuntil(b"ok")
    first.close()
    await until(lambda: rig.server.bodies.held == 0)  # a sender that goes gives its room back
    for writer in (second, third):
        writer.close()


async def test_connections_have_a_limit_and_unused_ones_make_room(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [await rig.open() for _ in range(20)]
    assert rig.server.open() == 20
    reader, extra = await rig.open(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    async with asyncio.timeout(2):
        assert await reader.read() == b""
    monkeypatch.setattr(http, "_UNUSED", -1.0)
    reader, more = await rig.open(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    async with asyncio.timeout(2):
        assert b"200 OK" in await reader.readuntil(b"ok")
        assert await kept[0][0].read() == b""  # the one that was unused for longest
    for writer in (extra, more, *(writer for _, writer in kept)):
        writer.close()


async def test_who_says_nothing_is_cut_off(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEADER_TIMEOUT", 0.05)
    reader, writer = await rig.open()
    async with asyncio.timeout(2):
        assert await reader.read() == b""
    writer.close()
    assert rig.server.open() == 0


def test_the_limit_leaves_file_descriptors_for_the_rest() -> None:
    assert 64 <= connections() <= 16_384


async def test_an_agent_that_accepts_and_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    taken: list[asyncio.StreamWriter] = []

    async def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken.append(writer)
        await asyncio.sleep(30)

    agent = await asyncio.start_server(accept, "127.0.0.1", 0)
    port = agent.sockets[0].getsockname()[1]
    monkeypatch.setattr(proxy, "_ANSWER", 0.1)

    async def node(_: str) -> dict[str, Any]:
        endpoints = {"kubeletEndpoint": {"Port": port}}
        return {"status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}], "daemonEndpoints": endpoints}}

    from setpoint.apiserver.pki import Authority, Subject

    authority = Authority(tmp_path)
    pair: KeyPair = authority.issue("client", Subject("c", ()))
    reaching = proxy.KubeletProxy(node, authority.certificate_file, pair)
    pod = {"metadata": {"name": "p", "namespace": "d", "uid": "u"}, "spec": {"nodeName": "n", "containers": [{"name": "c"}]}}
    with pytest.raises(StatusError, match="does not answer within") as caught:
        async with asyncio.timeout(5):
            await reaching.logs(Request("GET", "/"), pod)
    assert caught.value.code == 500
    await reaching.close()
    for writer in taken:
        writer.transport.abort()
    agent.close()
