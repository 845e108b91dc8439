"""Calls over kept connections, against a server that answers whatever a test wants, byte by byte."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from setpoint.client.kubeconfig import Access
from setpoint.client.transport import Request, Response, TransportError
from setpoint.client.transports.http import HttpTransport

OK = b"HTTP/1.1 200 OK\r\n"


class Server:
    """Answers each request by `answer(method and path)`, in pieces of `size` bytes; None ends the connection."""

    def __init__(self, answer: Callable[[str], bytes | None], size: int = 1 << 20) -> None:
        self.answer = answer
        self.size = size
        self.connections = 0
        self.heads: list[str] = []
        self.bodies: list[bytes] = []
        self.asked = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while line := await reader.readline():
                head = [line.decode()]
                while (line := await reader.readline()).strip():
                    head.append(line.decode())
                length = next((int(each.partition(":")[2]) for each in head if each.startswith("Content-Length")), 0)
                self.bodies.append(await reader.readexactly(length))
                self.heads.append("".join(head))
                self.asked.set()
                answer = self.answer(" ".join(head[0].split()[:2]))
                if answer is None:
                    break
                for first in range(0, len(answer), self.size):
                    writer.write(answer[first : first + self.size])
                    await writer.drain()
                    await asyncio.sleep(0)
                if b"Connection: close" in answer or (b"\r\nContent-Length" not in answer and b"chunked" not in answer):
                    break
        finally:
            writer.close()


@asynccontextmanager
async def running(server: Server) -> AsyncIterator[HttpTransport]:
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    transport = HttpTransport(Access(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/base", token="t"))
    try:
        yield transport
    finally:
        await transport.close()
        listening.close()
        await asyncio.sleep(0.01)


def whole(body: bytes, more: bytes = b"") -> bytes:
    return OK + more + b"Content-Length: %d\r\n\r\n" % len(body) + body


FORMS = {
    "length": whole(b"hello"),
    "chunks": OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
    "trailers": OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n",
    "to the end": OK + b"X: y\r\n\r\nhello",
    "closing": whole(b"hello", b"Connection: close\r\n"),
    "after a hint": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + whole(b"hello"),
    "gzip": whole(gzip.compress(b"hello", mtime=0), b"content-encoding: gzip\r\n"),
}


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
@pytest.mark.parametrize("form", FORMS)
async def test_every_form_of_an_answer(form: str, size: int) -> None:
    server = Server(lambda _: FORMS[form], size)
    async with running(server) as transport:
        for _ in range(2):
            answer = await transport.call(Request("GET", "/a", {"q": "x y&ü"}, {"Accept": "*"}))
            assert (answer.status, answer.body) == (200, b"hello")
    assert server.connections == (2 if form in {"to the end", "closing"} else 1)
    assert server.heads[0].startswith("GET /base/a?q=x%20y%26%C3%BC HTTP/1.1\r\nHost: 127.0.0.1:")
    assert "Authorization: Bearer t\r\nAccept: *\r\nAccept-Encoding: gzip\r\n" in server.heads[0]


async def test_bodies_are_sent_and_headers_found_whatever_their_case() -> None:
    server = Server(lambda _: whole(b"", b"retry-after: 3\r\n"))
    async with running(server) as transport:
        answer = await transport.call(Request("POST", "/a", {}, {}, b"body"))
    assert server.bodies == [b"body"]
    assert answer.headers["Retry-After"] == "3"


async def test_no_body_where_none_can_be() -> None:
    server = Server(lambda asked: OK + b"Content-Length: 5\r\n\r\n" if asked.startswith("HEAD") else whole(b"hello"))
    async with running(server) as transport:
        assert (await transport.call(Request("HEAD", "/a"))).body == b""
        assert (await transport.call(Request("GET", "/a"))).body == b"hello"
    assert server.connections == 1


async def test_a_read_on_a_connection_that_was_closed_meanwhile_is_asked_again() -> None:
    answers = [whole(b"1"), None, whole(b"2")]
    server = Server(lambda _: answers.pop(0))
    async with running(server) as transport:
        assert (await transport.call(Request("GET", "/a"))).body == b"1"
        assert (await transport.call(Request("GET", "/a"))).body == b"2"
    assert server.connections == 2


@pytest.mark.parametrize("answer", [None, b"HTTP/1.1 2", OK + b"Content-Length: 9\r\nConnection: close\r\n\r\nhell"])
async def test_an_answer_that_breaks_off_is_an_error(answer: bytes | None) -> None:
    server = Server(lambda _: answer)
    async with running(server) as transport:
        with pytest.raises(TransportError):
            await transport.call(Request("GET", "/a"))


BROKEN_GZIP = gzip.compress(b"hello", mtime=0)[:-4]


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/2 200\r\n\r\n",
        b"hello world\r\n\r\n",
        OK + b"no colon\r\n\r\n",
        whole(BROKEN_GZIP, b"Content-Encoding: gzip\r\n"),
        OK + b"Content-Encoding: gzip\r\n\r\n" + BROKEN_GZIP,
    ],
)
async def test_what_is_no_answer_is_an_error(answer: bytes) -> None:
    server = Server(lambda _: answer)
    async with running(server) as transport:
        with pytest.raises(TransportError, match="cannot be read"):
            await transport.call(Request("GET", "/a"))


@pytest.mark.parametrize("headers", [{"A": "b\r\nC: d"}, {"A\n": "b"}, {"A": "\0"}])
async def test_headers_cannot_be_smuggled(headers: dict[str, str]) -> None:
    server = Server(lambda _: whole(b""))
    async with running(server) as transport:
        with pytest.raises(TransportError):
            await transport.call(Request("GET", "/a", {}, headers))
    assert server.heads == []


async def test_a_cancelled_call_takes_its_connection_along() -> None:
    """Its answer, should it come, is nobody's: least of all the next call's."""
    server = Server(lambda asked: whole(asked.encode()))
    async with running(server) as transport:
        call = asyncio.ensure_future(transport.call(Request("GET", "/slow")))
        await server.asked.wait()
        call.cancel()
        await asyncio.wait([call])
        assert (await transport.call(Request("GET", "/next"))).body == b"GET /base/next"


async def test_many_calls_share_few_connections() -> None:
    server = Server(lambda asked: whole(asked.encode()))
    async with running(server) as transport:
        answers: list[Response] = await asyncio.gather(*(transport.call(Request("GET", f"/{n}")) for n in range(100)))
    assert [each.body for each in answers] == [f"GET /base/{n}".encode() for n in range(100)]
    assert server.connections <= 16


async def test_closing_ends_calls_under_way() -> None:
    server = Server(lambda _: OK + b"Content-Length: 9\r\n\r\n")
    async with running(server) as transport:
        call = asyncio.ensure_future(transport.call(Request("GET", "/a")))
        await server.asked.wait()
        await transport.close()
        with pytest.raises(TransportError):
            await call
