"""Kept connections for calls: one question and its whole answer at a time.

A component makes thousands of small calls; a general HTTP client spends more on each than the server does. What is here knows
just what such a call needs: HTTP/1.1, a body of known length, an answer of known length, in chunks, or up to the connection's
end. Streams, upgrades and everything else are aiohttp's.

A call that is cancelled, or whose answer cannot be read, ends its connection. A GET on a kept connection that was closed
meanwhile is asked once more on a new one; a write is not, since it may have been carried out (RFC 9110 §9.2.2): a second PUT
would be refused by a version of our own making, a second DELETE remove the successor of the object that was meant.
"""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import Callable, Mapping
from urllib.parse import quote, urlencode

from multidict import CIMultiDict
from yarl import URL

from setpoint.client.transport import Request, Response, TransportError

IDLE_SECONDS = 90.0
"""After which a connection that nobody used is not used again."""
MAX_HEAD = 1024 * 1024
_END = b"\r\n\r\n"
_GZIP = 31  # zlib's word for a gzip header and 32 KiB of window
_BODILESS = (204, 304)


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
        self._answer = _Answer(bodiless=False)

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
        except (ValueError, zlib.error) as error:
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
        whole = self._answer.at_end() if error is None else None
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
        self._head: tuple[int, Mapping[str, str]] | None = None
        self._data = bytearray()
        self._length: int | None = None  # None: up to the end
        self._chunks: _Chunks | None = None

    def take(self, data: bytes) -> Response | None:
        """The answer, once it is whole. Raises ValueError, zlib.error."""
        self.silent = False
        self._data += data
        while self._head is None:
            end = self._data.find(_END)
            if end < 0:
                if len(self._data) > MAX_HEAD:
                    raise ValueError("the head is too large")
                return None
            head, self._data = bytes(self._data[:end]), self._data[end + len(_END) :]
            self._read_head(head)
        if self._chunks is not None:
            body = self._chunks.take(self._data)
            return None if body is None else self._whole(body)
        if self._length is None or len(self._data) < self._length:
            return None
        self.keeps = self.keeps and len(self._data) == self._length
        return self._whole(bytes(self._data[: self._length]))

    def at_end(self) -> Response | None:
        """The answer, if the connection's end is its own."""
        if self._head is None or self._length is not None or self._chunks is not None:
            return None
        return self._whole(bytes(self._data))

    def _read_head(self, head: bytes) -> None:
        first, *lines = head.decode("latin-1").split("\r\n")
        version, _, rest = first.partition(" ")
        status = int(rest[:3])
        if not version.startswith("HTTP/1."):
            raise ValueError(f"unexpected answer: {first[:40]}")
        if 100 <= status < 200:
            return  # the real one comes after it
        headers: CIMultiDict[str] = CIMultiDict()
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon:
                raise ValueError(f"unexpected header: {line[:40]}")
            headers.add(name, value.strip())
        self._head = status, headers
        self.keeps = version == "HTTP/1.1" and headers.get("Connection", "").lower() != "close"
        if self._bodiless or status in _BODILESS:
            self._length = 0
        elif headers.get("Transfer-Encoding", "").lower() == "chunked":
            self._chunks = _Chunks()
        elif "Content-Length" in headers:
            self._length = int(headers["Content-Length"])
        else:
            self.keeps = False

    def _whole(self, body: bytes) -> Response:
        status, headers = self._head or (0, {})
        if body and headers.get("Content-Encoding") == "gzip":
            body = zlib.decompress(body, _GZIP)
        return Response(status, headers, body)


class _Chunks:
    """A body in chunks; what was read of it is not looked at again."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._at = 0

    def take(self, data: bytearray) -> bytes | None:
        """The body, once the last chunk is in `data`, which is the body as it came so far."""
        while (line := data.find(b"\r\n", self._at)) >= 0:
            size = int(data[self._at : line].partition(b";")[0], 16)
            if size < 0:
                raise ValueError("a chunk of negative size")
            if not size:
                return b"".join(self._parts) if data.find(_END, line) >= 0 else None
            start, end = line + 2, line + 2 + size
            if len(data) < end + 2:
                return None
            self._parts.append(bytes(data[start:end]))
            self._at = end + 2
        return None
