"""Requests over HTTP: TLS with the cluster's CA, a client certificate or a bearer token.

Calls go over connections of our own (`transports.kept`), streams over aiohttp's.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Self

import aiohttp
from yarl import URL

from setpoint.client.kubeconfig import Access
from setpoint.client.transport import Request, Response, Stream, TransportError
from setpoint.client.transports.kept import Kept

CONNECT_SECONDS = 10.0
CALL_SECONDS = 60.0
MAX_LINE = 1024 * 1024
READ_BUFFER = 1024 * 1024


CALLS = 16
"""Calls at one time, each over a connection of its own; more wait. A TLS handshake costs both sides more than most calls."""


class HttpTransport:
    """A pool of connections to one server, made at the first call; at most `calls` of them, and one for each stream."""

    def __init__(self, access: Access, *, calls: int = CALLS) -> None:
        self.access = access
        self._calls = asyncio.Semaphore(calls)
        self._kept: Kept | None = None
        self._session: aiohttp.ClientSession | None = None
        self._url = URL(access.server)

    async def call(self, request: Request) -> Response:
        with _reaching():
            async with self._calls:
                if self._kept is None:
                    self._kept = Kept(self._url, lambda: ssl_context(self.access), self.access.token, CONNECT_SECONDS)
                return await self._kept.call(request, CALL_SECONDS)

    async def stream(self, request: Request) -> Stream:
        with _reaching():
            return _Stream(await self._send(request, aiohttp.ClientTimeout(None, sock_connect=CONNECT_SECONDS)))

    async def renew(self) -> None:
        """Read the identity's files anew: every connection is made again, so that none goes on by an old certificate."""
        await self.close()

    async def close(self) -> None:
        """Close every connection; calls under way fail with TransportError."""
        kept, self._kept = self._kept, None  # who calls meanwhile begins anew
        session, self._session = self._session, None
        if kept is not None:
            kept.close()
        if session is not None:
            await session.close()

    def _send(self, request: Request, timeout: aiohttp.ClientTimeout) -> aiohttp.client._RequestContextManager:
        url = self._url.joinpath(request.path.lstrip("/"), encoded=True).with_query(request.query or None)
        return self._open().request(
            request.method, url, headers=request.headers, data=request.body or None, timeout=timeout, allow_redirects=False
        )

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            context = ssl_context(self.access) if self._url.scheme == "https" else None
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0, ssl=context if context is not None else True, keepalive_timeout=90, socket_factory=_socket
                ),
                headers={"Authorization": f"Bearer {self.access.token}"} if self.access.token else {},
                max_line_size=MAX_LINE,
                max_field_size=MAX_LINE,
                read_bufsize=READ_BUFFER,
                auto_decompress=True,
                skip_auto_headers=("User-Agent",),
            )
        return self._session


def _socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """With keepalive: a watch says nothing for minutes, and must notice within one that the other side is gone."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family=family, type=kind, proto=protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, option):  # not every system has all three
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    return made


def ssl_context(access: Access) -> ssl.SSLContext:
    """TLS 1.2 or newer towards the server of `access`; without its CA's data the host's trust store decides."""
    context = ssl.create_default_context(cafile=access.ca_file or None, cadata=access.ca_data or None)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if access.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    with access.certificate_files() as files:
        if files is not None:
            context.load_cert_chain(*files)
    return context


class _Stream:
    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self.status = answer.status
        self.headers: Mapping[str, str] = answer.headers
        self._answer = answer

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        self._answer.close()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _reaching():
            async for chunk in self._answer.content.iter_any():
                yield chunk

    async def read(self) -> bytes:
        with _reaching():
            return await self._answer.read()


@contextlib.contextmanager
def _reaching() -> Iterator[None]:
    """Aiohttp's errors, and the operating system's, as TransportError."""
    try:
        yield
    except TransportError:
        raise
    except (TimeoutError, aiohttp.ClientError, OSError) as error:
        raise TransportError(str(error) or type(error).__name__) from error
