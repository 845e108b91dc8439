"""Kept connections for calls: one question and its whole answer at a time.

A component makes thousands of small calls; a general HTTP client spends more on each than the server does. What is here is the
pool of connections and nothing else: answers are read by httptools' parser; streams, upgrades and the like are aiohttp's.

A call that is cancelled, or whose answer cannot be read, ends its connection. A GET on a kept connection that was closed
meanwhile is asked once more on a new one; a write is not, since it may have been carried out (RFC 9110 §9.2.2): a second PUT
would be refused by a version of our own making, a second DELETE remove the successor of the object that was meant.
"""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import Callable
from urllib.parse import quote, urlencode

import httptools
from multidict import CIMultiDict
from yarl import URL

from setpoint.client.transport import Request, Response, TransportError

IDLE_SECONDS = 90.0
"""After which a connection that nobody used is not used again."""
MAX_HEAD = 1024 * 1024
FINAL = 200
"""Answers below it are hints: the real one comes after them."""
_GZIP = 31  # zlib's word for a gzip header and 32 KiB of window


class Dropped(TransportError):
    """The connection ended before an answer; `silent`: before the first byte of one."""

    def __init__(self, message: str, *, silent: bool) -> None:
        super().__init__(message)
        self.silent = silent


class Kept:
    """Connections to one server, made when none is free. `bearer` goes with every call."""

    def __init__(self, url: URL, context: Callable[[], ssl.SSLContext], bearer: str, connect_seconds: float) -> None:
        self._url = url
        self._context = context() if url.scheme == "https" else None
        self._base = url.raw_path.rstrip("/")
        authorization = f"Authorization: Bearer {bearer}\r\n" if bearer else ""
        self._fixed = f" HTTP/1.1\r\nHost: {url.host_port_subcomponent}\r\n{authorization}"
        self._connect_seconds = connect_seconds
        self._idle: list[_Connection] = []
        self._all: set[_Connection] = set()
        self._closed = False

    async def call(self, request: Request, seconds: float) -> Response:
        """Raises OSError: TransportError, TimeoutError, or what the operating system says."""
        question = self._question(request)
        async with asyncio.timeout(seconds):
            while True:
                kept = self._free()
                connection = kept or await self._connect()
                try:
                    answer = await connection.ask(question, bodiless=request.method == "HEAD")
                except Dropped as error:
                    if kept is None or not error.silent or request.method != "GET":
                        raise
                    continue
                finally:
                    self._give_back(connection)
                return answer

    def close(self) -> None:
        """End every connection; calls under way fail with TransportError."""
        self._closed = True
        for connection in [*self._all]:
            connection.end()
        self._idle.clear()

    def _question(self, request: Request) -> bytes:
        query = f"?{urlencode(request.query, quote_via=quote, safe='')}" if request.query else ""
        lines = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
        head = f"{request.method} {self._base}/{request.path.lstrip('/')}{query}{self._fixed}{lines}"
        if head.count("\n") != self._fixed.count("\n") + len(request.headers) or "\0" in head:
            raise TransportError("a line break in a header or path")
        if request.method == "GET":
            return f"{head}Accept-Encoding: gzip\r\n\r\n".encode()
        return b"%bContent-Length: %d\r\n\r\n%b" % (head.encode(), len(request.body), request.body)

    def _free(self) -> _Connection | None:
        """The connection used last, of those that are still good."""
        now = asyncio.get_running_loop().time()
        while self._idle and now - self._idle[0].since > IDLE_SECONDS:
            self._idle.pop(0).end()
        while self._idle:
            connection = self._idle.pop()
            if connection.usable:
                return connection
        return None

    async def _connect(self) -> _Connection:
        loop = asyncio.get_running_loop()
        host, port = self._url.host or "", self._url.port or 0
        async with asyncio.timeout(self._connect_seconds):
            _, connection = await loop.create_connection(lambda: _Connection(self._all.discard), host, port, ssl=self._context)
        self._all.add(connection)
        if self._closed:
            connection.end()
            raise TransportError("the transport is closed")
        return connection

    def _give_back(self, connection: _Connection) -> None:
        if self._closed or not connection.usable:
            connection.end()
        else:
            connection.since = asyncio.get_running_loop().time()
            self._idle.append(connection)


class _Connection(asyncio.Protocol):
    """`usable` between calls; `since` when the last one ended."""

    def __init__(self, gone: Callable[[_Connection], object]) -> None:
        self.usable = False
        self.since = 0.0
        self._gone = gone
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[Response] | None = None
        self._answer: _Answer

    # -- asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # a stream's is one to write to
        self.usable = True

    def data_received(self, data: bytes) -> None:
        waiter = self._waiter
        if waiter is None or waiter.done():  # nobody asked
            self.end()
            return
        try:
            whole = self._answer.take(data)
        except (httptools.HttpParserError, ValueError, zlib.error) as error:
            waiter.set_exception(TransportError(f"the answer cannot be read: {error}"))
            self.end()
            return
        if whole is not None:
            self.usable = self._answer.keeps
            waiter.set_result(whole)

    def connection_lost(self, error: Exception | None) -> None:
        self.usable = False
        self._transport = None
        self._gone(self)
        waiter = self._waiter
        if waiter is None or waiter.done():
            return
        try:
            whole = self._answer.at_end() if error is None else None
        except zlib.error as unreadable:
            waiter.set_exception(TransportError(f"the answer cannot be read: {unreadable}"))
            return
        if whole is not None:
            waiter.set_result(whole)
        else:
            waiter.set_exception(Dropped(str(error or "the server disconnected"), silent=self._answer.silent))

    # -- the caller's side

    async def ask(self, question: bytes, *, bodiless: bool) -> Response:
        """One call. Raises TransportError. Cancelled, the connection is of no use any more."""
        if self._transport is None:
            raise Dropped("the server disconnected", silent=True)
        self.usable = False
        self._answer = _Answer(bodiless=bodiless)
        self._waiter = asyncio.get_running_loop().create_future()
        self._transport.write(question)
        try:
            return await self._waiter
        finally:
            self._waiter = None
            self._answer.let_go()

    def end(self) -> None:
        self.usable = False
        if self._transport is not None:
            self._transport.abort()


class _Answer:
    """Reads one answer as it comes. `keeps`: the connection may be used again after it."""

    def __init__(self, *, bodiless: bool) -> None:
        self.silent = True
        self.keeps = False
        self._bodiless = bodiless
        self._parser = httptools.HttpResponseParser(self)
        self._headers: CIMultiDict[str] = CIMultiDict()
        self._begun = self._ended = False
        self._body: list[bytes] = []
        self._size = 0

    def take(self, data: bytes) -> Response | None:
        """The answer, once it is whole. Raises HttpParserError, ValueError, zlib.error."""
        self.silent = False
        self._parser.feed_data(data)
        self._size += len(data)
        if not self._begun and self._size > MAX_HEAD:
            raise ValueError("the head is too large")
        return self._whole() if self._ended else None

    def at_end(self) -> Response | None:
        """The answer, if the connection's end is its own."""
        told = "Content-Length" in self._headers or "Transfer-Encoding" in self._headers
        return self._whole() if self._begun and not told else None

    def let_go(self) -> None:
        """The parser and its answer hold each other: without this the garbage collector would have to find them."""
        del self._parser

    def _whole(self) -> Response:
        body = b"".join(self._body)
        if body and self._headers.get("Content-Encoding") == "gzip":
            body = zlib.decompress(body, _GZIP)
        return Response(self._parser.get_status_code(), self._headers, body)

    # -- what the parser found

    def on_message_begin(self) -> None:
        if self._ended:  # an answer that nobody asked for
            self.keeps = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.add(name.decode("latin-1"), value.decode("latin-1"))

    def on_headers_complete(self) -> None:
        if self._parser.get_status_code() < FINAL:
            self._headers.clear()
            return
        self._begun = True
        self.keeps = self._parser.should_keep_alive()
        self._ended = self._bodiless

    def on_body(self, body: bytes) -> None:
        if not self._bodiless:
            self._body.append(body)

    def on_message_complete(self) -> None:
        self._ended = self._ended or self._begun
