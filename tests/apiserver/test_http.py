from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncGenerator, AsyncIterator, Mapping

import pytest

from setpoint.api.machinery.status import unauthorized
from setpoint.api.machinery.user import ANONYMOUS, UserInfo
from setpoint.apiserver import aiohttp_carrier, connection, heads, sending
from setpoint.apiserver.authentication.certificates import Peer
from setpoint.apiserver.bounds import BodyBudget
from setpoint.apiserver.http import HttpServer
from setpoint.apiserver.request import Request, Response


class Fake:
    """A pipeline and an authenticator: answers what it was asked."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.ended = asyncio.Event()
        self.go_on = asyncio.Event()

    async def authenticate(self, path: str, headers: Mapping[str, str], peer: Peer | None) -> UserInfo:
        if headers.get("authorization") == "Bearer wrong":
            raise unauthorized()
        return ANONYMOUS

    async def handle(self, request: Request) -> Response:
        self.requests.append(request)
        if request.path == "/stream":
            return Response(200, {"Content-Type": "application/json"}, stream=self._pieces())
        if request.path == "/slow":
            await self.go_on.wait()
            self.ended.set()
        if request.path == "/big":
            return Response(200, {"Content-Type": "application/json"}, b"x" * 200_000)
        if request.path == "/long":
            return Response(200, {"Content-Type": "application/json"}, pieces=self._long())
        status = 204 if request.path == "/nothing" else 200
        return Response(status, {"Content-Type": "text/plain"}, request.body or b"hello", warnings=["take care"])

    async def _long(self) -> AsyncGenerator[bytes]:
        for word in (b"[", b"1," * 100_000, b"1]"):
            yield word

    async def _pieces(self) -> AsyncIterator[bytes]:
        try:
            yield b"one\n"
            await self.go_on.wait()
            yield b"two\n"
        finally:
            self.ended.set()


class Rig:
    def __init__(self) -> None:
        self.fake = Fake()
        self.server = HttpServer(self.fake, self.fake)
        self.port = 0

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def say(self, text: bytes) -> bytes:
        """All that comes back on a connection of its own until it ends."""
        reader, writer = await self.open()
        writer.write(text)
        async with asyncio.timeout(5):
            answer = await reader.read()
        writer.close()
        return answer


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    made = Rig()
    made.port = await made.server.start("127.0.0.1", 0, None)
    yield made
    await made.server.stop(0.1)


END = b"Connection: close\r\n\r\n"


async def test_a_plain_request(rig: Rig) -> None:
    answer = await rig.say(b"GET /a%20b?x=1&x=2&y HTTP/1.1\r\nHost: h\r\nX-One:  two \r\n" + END)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n")
    for line in (b'Warning: 299 - "take care"', b"Cache-Control: no-cache, private", b"Content-Length: 5", b"Connection: close"):
        assert line in head.split(b"\r\n")
    assert body == b"hello"
    [request] = rig.fake.requests
    assert (request.path, request.query, request.headers["x-one"]) == ("/a b", {"x": ["1", "2"], "y": [""]}, "two")


async def test_requests_in_a_row_and_a_body_in_pieces(rig: Rig) -> None:
    reader, writer = await rig.open()
    writer.write(b"POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nabc")
    await asyncio.sleep(0.02)
    writer.write(b"defGET /2 HTTP/1.1\r\nHost: h\r\n\r\nGET /nothing HTTP/1.1\r\nHost: h\r\n" + END)
    async with asyncio.timeout(5):
        answers = await reader.read()
    assert [request.path for request in rig.fake.requests] == ["/1", "/2", "/nothing"]
    assert rig.fake.requests[0].body == b"abcdef"
    assert answers.count(b"HTTP/1.1 200 OK") == 2
    assert b"abcdefHTTP/1.1 200 OK" in answers
    assert b"HTTP/1.1 204 No Content" in answers
    writer.close()


async def test_head_has_a_length_and_no_body(rig: Rig) -> None:
    answer = await rig.say(b"HEAD / HTTP/1.1\r\nHost: h\r\n" + END)
    assert b"Content-Length: 5" in answer
    assert answer.endswith(b"\r\n\r\n")


async def test_a_wrong_token_is_401(rig: Rig) -> None:
    answer = await rig.say(b"GET / HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer wrong\r\n" + END)
    assert answer.startswith(b"HTTP/1.1 401 Unauthorized")
    assert rig.fake.requests == []


async def test_a_stream_comes_piece_by_piece(rig: Rig) -> None:
    reader, writer = await rig.open()
    writer.write(b"GET /stream HTTP/1.1\r\nHost: h\r\n" + END)
    async with asyncio.timeout(5):
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"Transfer-Encoding: chunked" in head
        assert await reader.readuntil(b"one\n\r\n") == b"4\r\none\n\r\n"
        rig.fake.go_on.set()
        assert await reader.readuntil(b"0\r\n\r\n") == b"4\r\ntwo\n\r\n0\r\n\r\n"
    writer.close()


async def test_a_stream_ends_when_the_client_goes(rig: Rig) -> None:
    reader, writer = await rig.open()
    writer.write(b"GET /stream HTTP/1.1\r\nHost: h\r\n\r\n")
    await reader.readuntil(b"one\n")
    writer.close()
    async with asyncio.timeout(5):
        await rig.fake.ended.wait()


async def test_another_request_is_finished_when_the_client_goes(rig: Rig) -> None:
    _, writer = await rig.open()
    writer.write(b"GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
    await asyncio.sleep(0.02)
    writer.close()
    await asyncio.sleep(0.02)
    rig.fake.go_on.set()
    async with asyncio.timeout(5):
        await rig.fake.ended.wait()


async def test_stop_ends_streams(rig: Rig) -> None:
    reader, writer = await rig.open()
    writer.write(b"GET /stream HTTP/1.1\r\nHost: h\r\n\r\n")
    await reader.readuntil(b"one\n")
    async with asyncio.timeout(5):
        await rig.server.stop(0.5)
    assert rig.fake.ended.is_set()
    assert rig.server.connections == set()
    writer.close()


async def test_big_answers_are_packed_for_who_takes_that(rig: Rig) -> None:
    answer = await rig.say(b"GET /big HTTP/1.1\r\nHost: h\r\nAccept-Encoding: deflate, gzip\r\n" + END)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"Content-Encoding: gzip" in head
    assert gzip.decompress(body) == b"x" * 200_000


@pytest.mark.parametrize("chunked", [False, True], ids=["plain request", "chunked request"])
@pytest.mark.parametrize("packed", [False, True], ids=["as it is", "packed"])
async def test_a_long_answer_is_made_while_it_is_sent(rig: Rig, *, packed: bool, chunked: bool) -> None:
    accepts = b"Accept-Encoding: gzip\r\n" if packed else b""
    form = b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n" if chunked else END
    answer = await rig.say(b"GET /long HTTP/1.1\r\nHost: h\r\n" + accepts + form)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"\r\nConnection: close" in head
    if not chunked:
        assert b"\r\nTransfer-Encoding: chunked" in head
        body = unchunked(body)
    assert (gzip.decompress(body) if packed else body) == b"[" + b"1," * 100_000 + b"1]"
    head, _, body = (await rig.say(b"HEAD /long HTTP/1.1\r\nHost: h\r\n" + accepts + END)).partition(b"\r\n\r\n")
    assert (b"\r\nContent-Length: " in head, body) == (True, b"")


def unchunked(text: bytes) -> bytes:
    pieces = []
    while text:
        size, _, text = text.partition(b"\r\n")
        piece, text = text[: int(size, 16)], text[int(size, 16) + 2 :]
        pieces.append(piece)
    assert pieces[-1] == b""
    return b"".join(pieces)


HUGE = 24 * 1024 * 1024


async def _huge(_: Request) -> Response:
    return Response(200, {"Content-Type": "application/json"}, b"x" * HUGE)


async def test_a_slow_reader_gets_everything(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "STALLED_WRITE", 0.6)  # longer than a loaded machine may take no notice of us
    monkeypatch.setattr(rig.server, "handle", _huge)
    reader, writer = await rig.open()
    writer.write(b"GET /huge HTTP/1.1\r\nHost: x\r\n" + END)
    got = 0
    while piece := await reader.read(512 * 1024):
        got += len(piece)
        await asyncio.sleep(0.02)
    writer.close()
    assert got > HUGE


async def test_a_reader_that_takes_nothing_is_cut_off(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "STALLED_WRITE", 0.1)
    monkeypatch.setattr(rig.server, "handle", _huge)
    _, writer = await rig.open()
    writer.write(b"GET /huge HTTP/1.1\r\nHost: x\r\n" + END)
    await asyncio.sleep(0.05)
    assert rig.server.connections
    await connection.finished(rig.server.connections, 2)
    await asyncio.sleep(0.05)
    assert not rig.server.connections
    writer.close()


async def test_a_body_beyond_the_limit_is_413(rig: Rig) -> None:
    length = connection.MAX_BODY + 1
    answer = await rig.say(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n" % length + END)
    assert answer.startswith(b"HTTP/1.1 413 ")


async def test_a_body_that_does_not_come_is_408(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BODY_TIMEOUT", 0.05)
    answer = await rig.say(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab")
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert rig.fake.requests == []


CHUNKED = b"POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n" + END + b"3\r\nabc\r\n0\r\n\r\n"
OLD = b"GET /c HTTP/1.0\r\n\r\n"


@pytest.mark.parametrize(("text", "body"), [(CHUNKED, b"abc"), (OLD, b"")])
async def test_what_is_not_plain_is_served_all_the_same(rig: Rig, text: bytes, body: bytes) -> None:
    answer = await rig.say(text)
    assert b" 200 OK\r\n" in answer
    assert rig.fake.requests[0].body == body


async def test_a_connection_goes_over_in_the_middle(rig: Rig) -> None:
    answers = await rig.say(b"GET /1 HTTP/1.1\r\nHost: h\r\n\r\n" + CHUNKED)
    assert answers.count(b"200 OK") == 2
    assert [request.path for request in rig.fake.requests] == ["/1", "/c"]


async def test_a_head_in_pieces(rig: Rig) -> None:
    reader, writer = await rig.open()
    writer.write(b"GET /1 HTTP/1.1\r\nHo")
    await asyncio.sleep(0.02)
    writer.write(b"st: h\r\n" + END)
    async with asyncio.timeout(5):
        assert b"200 OK" in await reader.read()
    writer.close()


PLAIN = b"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 0"
SPOILT: list[tuple[str, bytes]] = [
    ("no HTTP/1.1", PLAIN.replace(b"1.1", b"1.2")),
    ("method that is no word", PLAIN.replace(b"GET", b"G(T")),
    ("small method", PLAIN.replace(b"GET", b"get")),
    ("two spaces", PLAIN.replace(b"GET ", b"GET  ")),
    ("absolute target", PLAIN.replace(b" / ", b" http://h/ ")),
    ("bad escape", PLAIN.replace(b" / ", b" /%zz ")),
    ("no ASCII", PLAIN.replace(b" / ", b" /\xc3\xa4 ")),
    ("no host", PLAIN.replace(b"Host", b"Ghost")),
    ("two hosts", PLAIN + b"\r\nHost: h"),
    ("two lengths", PLAIN + b"\r\nContent-Length: 1"),
    ("length and chunks", PLAIN + b"\r\nTransfer-Encoding: chunked"),
    ("length with a sign", PLAIN.replace(b": 0", b": +1")),
    ("length that is no number", PLAIN.replace(b": 0", b": 1_0")),
    ("space before the colon", PLAIN + b"\r\nX : y"),
    ("folded", PLAIN + b"\r\nX: y\r\n z"),
    ("bare newline", PLAIN + b"\r\nX: y\nZ: w"),
    ("bare return", PLAIN + b"\r\nX: y\rZ: w"),
    ("null", PLAIN + b"\r\nX: y\0"),
    ("no colon", PLAIN + b"\r\nX"),
    ("no name", PLAIN + b"\r\n: x"),
]


@pytest.mark.parametrize("text", [text for _, text in SPOILT], ids=[what for what, _ in SPOILT])
def test_only_the_plain_form_is_parsed_here(text: bytes) -> None:
    assert heads.parse(text) is None


def test_a_method_of_ones_own_is_for_whoever_is_asked_to_refuse() -> None:
    head = heads.parse(PLAIN.replace(b"GET", b"FETCH"))
    assert head is not None
    assert head.method == "FETCH"


def test_the_plain_form() -> None:
    head = heads.parse(PLAIN + b"\r\nX-A:\tb \r\nConnection: Close")
    assert head is not None
    assert (head.method, head.target, head.length, head.keep) == ("GET", "/", 0, False)
    assert head.headers == {"host": "h", "content-length": "0", "x-a": "b", "connection": "Close"}


def test_spoilt_parameters_are_left_out() -> None:
    head = heads.parse(PLAIN.replace(b" / ", b" /a%20b?a=%zz&b=%&c=1;2&d=%41&e "))
    assert head is not None
    assert heads.parameters(head.target.partition("?")[2]) == {"d": ["A"], "e": [""]}


async def test_every_answer_says_what_its_request_is_called(rig: Rig) -> None:
    for asked, expected in ((b"Audit-ID: mine\r\n", b"Audit-Id: mine\r\n"), (b"", b"Audit-Id: ")):
        for form in (b"Content-Length: 0\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"):
            reader, writer = await rig.open()
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n" + asked + form)
            async with asyncio.timeout(5):
                head = await reader.readuntil(b"\r\n\r\n")
            writer.close()
            assert head.count(expected) == 1


def test_a_header_cannot_end_its_line() -> None:
    assert b"\r\nevil" not in heads.answer(200, [("Warning", "x\r\nevil: y")], 0)


@pytest.mark.parametrize("size", [1, 3, 7])
async def test_a_head_and_its_body_in_small_pieces(rig: Rig, size: int) -> None:
    reader, writer = await rig.open()
    request = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody"
    for start in range(0, len(request), size):
        writer.write(request[start : start + size])
        await asyncio.sleep(0.001)
    async with asyncio.timeout(5):
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
    writer.close()
    assert rig.fake.requests[0].body == b"body"
    assert rig.server._protocols is None, "served without the library"


@pytest.mark.parametrize(
    "data", [b"GE", b"GET /version", b"GET /version HTTP/1.1\r\nHost: x\r\n", b"GET /version HTTP/1.0\r\nHost:"]
)
async def test_a_head_that_never_ends_is_hung_up_on(rig: Rig, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(connection, "HEADER_TIMEOUT", 0.05)
    monkeypatch.setattr(aiohttp_carrier, "HEADER_TIMEOUT", 0.05)
    assert await rig.say(data) == b""
    assert rig.fake.requests == []


@pytest.mark.parametrize("data", [b"GARBAGE\r\n", b"GEX", b"GET /version HTTP/9.9\r\n"])
async def test_what_cannot_become_a_head_is_not_waited_for(rig: Rig, data: bytes) -> None:
    assert not heads.may_begin(bytearray(data))
    assert b" 400 " in (await rig.say(data + b"\r\n\r\n"))


@pytest.mark.parametrize("upgrade", [b"", b"Expect: \r\n"])
@pytest.mark.parametrize("target", [b"/" + b"a/" * 5_000, b"/a?" + b"&b" * 3_000])
async def test_a_target_beyond_the_limit_is_414(rig: Rig, target: bytes, upgrade: bytes) -> None:
    answer = await rig.say(b"GET " + target + b" HTTP/1.1\r\nHost: h\r\nConnection: close\r\n" + upgrade + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 414 ")
    assert b"\r\nAudit-Id: " in answer
    assert not rig.fake.requests


async def test_too_many_headers_are_not_read(rig: Rig) -> None:
    answer = await rig.say(b"GET / HTTP/1.1\r\nHost: h\r\n" + b"a: b\r\n" * 3_000 + b"\r\n")
    assert b" 431 " in answer
    assert not rig.fake.requests


async def test_long_heads_together_have_a_bound(rig: Rig) -> None:
    rig.server.bodies = BodyBudget(4 * connection.MAX_HEADER)  # a quarter of it for strangers
    begun = b"GET / HTTP/1.1\r\nHost: h\r\nx: " + b"y" * 100_000
    reader, writer = await rig.open()
    writer.write(begun)
    await writer.drain()
    await asyncio.sleep(0.05)
    assert rig.server.bodies.held
    assert b" 429 " in await rig.say(begun)
    writer.write(b"\r\nConnection: close\r\n\r\n")
    assert b" 200 " in await reader.read()
    assert rig.server.bodies.held == 0
    writer.close()


@pytest.mark.parametrize("upgrade", [b"", b"Expect: \r\n"])
async def test_of_two_credentials_the_first_counts(rig: Rig, upgrade: bytes) -> None:
    repeated = (
        b"Authorization: Bearer a\r\nAuthorization: Bearer wrong\r\nX-Forwarded-For: 1.1.1.1\r\nX-Forwarded-For: 2.2.2.2\r\n"
    )
    await rig.say(
        b"GET /a HTTP/1.1\r\nHost: h\r\n" + repeated + b"Impersonate-Group: a\r\nImpersonate-Group: b\r\n" + upgrade + END
    )
    [request] = rig.fake.requests
    assert request.headers["authorization"] == "Bearer a"
    assert request.headers["x-forwarded-for"] == "1.1.1.1, 2.2.2.2"
    assert request.headers["impersonate-group"] == "a\nb"
