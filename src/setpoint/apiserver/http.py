"""The HTTP adapter: sockets and TLS on one side, the pipeline's Request and Response on the other.

It adds what only a carrier can know: the peer's certificate, the size and pace of bodies, compression, and the end of a
connection (which ends its watch at once). Everything else is the pipeline's.
"""

from __future__ import annotations

import asyncio
import gzip
import re
import ssl
from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol
from urllib.parse import parse_qs, unquote

from aiohttp import web
from aiohttp.http_exceptions import LineTooLong
from aiohttp.web_protocol import RequestHandler
from msgspec import Struct
from multidict import CIMultiDict

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authentication import certificates
from setpoint.apiserver.pki import KeyPair
from setpoint.apiserver.request import Request, Response, error_response
from setpoint.kit import logs

log = logs.get_logger("apiserver.http")

MAX_BODY = 3 * 1024 * 1024  # bytes, as kube-apiserver's MaxRequestBodyBytes
MAX_HEADER = 1024 * 1024  # bytes of one header or of the request line, as Go's DefaultMaxHeaderBytes
BODY_TIMEOUT = 60.0  # seconds in which a body must have arrived
STALLED_WRITE = 60.0  # seconds after which a reader that takes nothing is cut off
_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
_COMPRESS_FROM = 128 * 1024  # bytes; smaller answers are not worth it, as in kube-apiserver


class Handler(Protocol):
    """The pipeline behind the adapter."""

    async def handle(self, request: Request) -> Response: ...


class Authenticator(Protocol):
    """Finds the user of a request; raises StatusError 401."""

    async def authenticate(self, authorization: str, certificate_user: UserInfo | None) -> UserInfo: ...


class Carrier(Struct):
    """What a handler that takes over the connection (exec, attach) gets: aiohttp's request; it leaves its answer here."""

    request: web.BaseRequest
    response: web.StreamResponse | None = None


class HttpServer:
    """Serves one pipeline on one address. `start` returns once connections are accepted; `stop` ends them all."""

    def __init__(self, pipeline: Handler, authenticator: Authenticator) -> None:
        self._pipeline = pipeline
        self._authenticator = authenticator
        self._server: asyncio.Server | None = None
        self._protocols: _Protocols | None = None

    async def start(self, host: str, port: int, context: ssl.SSLContext | None) -> int:
        """Listen; returns the port. Raises OSError when the address is taken."""
        self._protocols = _Protocols(
            self._serve,
            access_log=None,
            tcp_keepalive=True,
            keepalive_timeout=180,
            max_line_size=MAX_HEADER,
            max_field_size=MAX_HEADER,
            lingering_time=2.0,
            auto_decompress=False,  # Kubernetes takes bodies as they are
        )
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._protocols, host, port, ssl=context, backlog=1024)
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self, grace: float = 1.0) -> None:
        """Accept no more, give requests `grace` seconds, then cut what is left."""
        if self._server is None or self._protocols is None:
            return
        self._server.close()
        self._protocols.end_streams()
        await self._protocols.shutdown(grace)
        self._server = None

    async def _serve(self, carried: web.BaseRequest) -> web.StreamResponse:
        if _BAD_ESCAPE.search(carried.raw_path):
            return _no_http(400)
        try:
            request = await self._request(carried)
        except StatusError as error:
            return _answer(error_response(error))
        response = await self._pipeline.handle(request)
        if response.stream is not None:
            return await self._stream(carried, response, response.stream)
        if request.carrier.response is not None:
            taken: web.StreamResponse = request.carrier.response
            return taken
        return await _maybe_compressed(carried, response)

    async def _request(self, carried: web.BaseRequest) -> Request:
        transport = carried.transport
        peer = transport.get_extra_info("peercert") if transport is not None else None
        headers = {name.lower(): value for name, value in carried.headers.items()}
        user = await self._authenticator.authenticate(headers.get("authorization", ""), certificates.user_of(peer))
        raw_path, _, raw_query = carried.raw_path.partition("?")
        return Request(
            method=carried.method,
            path=unquote(raw_path) if "%" in raw_path else raw_path,
            query=parse_qs(raw_query, keep_blank_values=True) if raw_query else {},
            headers=headers,
            body=await _body(carried) if carried.body_exists else b"",
            user=user,
            carrier=Carrier(carried),
        )

    async def _stream(self, carried: web.BaseRequest, response: Response, stream: AsyncIterator[bytes]) -> web.StreamResponse:
        """Send pieces as they come, until the stream ends, the client goes, or it stops reading."""
        answer = web.StreamResponse(status=response.status, headers=_headers(response))
        answer.enable_chunked_encoding()
        protocols, protocol = self._protocols, carried.protocol
        if protocols is None:
            raise RuntimeError("not started")
        protocols.streaming(protocol)
        try:
            await answer.prepare(carried)
            async for piece in stream:
                async with asyncio.timeout(STALLED_WRITE):
                    await answer.write(piece)
            await answer.write_eof()
        except (ConnectionError, TimeoutError):
            carried.protocol.force_close()
        except asyncio.CancelledError:
            if not protocols.was_lost(protocol):
                raise
            _uncancel()
        finally:
            protocols.ended(protocol)
            if (close := getattr(stream, "aclose", None)) is not None:
                await close()
        return answer


class _Connection(RequestHandler):
    """aiohttp's protocol, whose answers to what is no HTTP are those of Go's server: short, and without an echo."""

    __slots__ = ()

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        if status >= 500:
            return super().handle_error(request, status, exc, message)
        text = message or ""
        log.debug("malformed request", peer=request.remote, error=text.partition("\n")[0])
        if isinstance(exc, LineTooLong) or text.startswith("Too many headers"):
            return _no_http(431)
        return _no_http(400, ": missing required Host header" if "'Host'" in text else "")


class _Protocols(web.Server):
    """aiohttp's protocol factory, which also tells streams that their connection is lost."""

    def __init__(self, handler: Any, **options: Any) -> None:
        super().__init__(handler, **options)
        self._options = options
        self._streams: dict[RequestHandler, asyncio.Task[Any]] = {}
        self._lost: set[RequestHandler] = set()

    def __call__(self) -> RequestHandler:
        return _Connection(self, loop=asyncio.get_running_loop(), **self._options)

    def streaming(self, protocol: RequestHandler) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._streams[protocol] = task

    def ended(self, protocol: RequestHandler) -> None:
        self._streams.pop(protocol, None)
        self._lost.discard(protocol)

    def was_lost(self, protocol: RequestHandler) -> bool:
        return protocol in self._lost

    def end_streams(self) -> None:
        for protocol, task in list(self._streams.items()):
            self._lost.add(protocol)
            task.cancel()

    def connection_lost(self, handler: RequestHandler, exc: BaseException | None = None) -> None:
        task = self._streams.get(handler)
        if task is not None and not task.done():
            self._lost.add(handler)
            task.cancel()
        super().connection_lost(handler, exc)


def server_context(pair: KeyPair, client_ca: str) -> ssl.SSLContext:
    """TLS 1.2 or newer, HTTP/1.1, with client certificates of `client_ca` (a file) accepted, not required."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(pair.certificate, pair.key)
    context.load_verify_locations(client_ca)
    context.verify_mode = ssl.CERT_OPTIONAL
    context.set_alpn_protocols(["http/1.1"])
    return context


async def _body(carried: web.BaseRequest) -> bytes:
    """The whole body; raises StatusError 413 beyond MAX_BODY, 408 when it does not arrive in time, 400 when it breaks off."""
    if (carried.content_length or 0) > MAX_BODY:
        raise _too_large()
    if carried.headers.get("Expect", "").lower() == "100-continue":
        await carried.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        carried.writer.output_size = 0  # nothing of the answer itself
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_TIMEOUT):
            while piece := await carried.content.readany():
                size += len(piece)
                if size > MAX_BODY:
                    raise _too_large()
                pieces.append(piece)
    except TimeoutError:
        raise StatusError(408, "Timeout", "the request body did not arrive in time", {}) from None
    except (ValueError, ConnectionError, web.RequestPayloadError) as error:
        raise StatusError(400, "BadRequest", f"cannot read the request body: {error}") from error
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _no_http(code: int, reason: str = "") -> web.Response:
    """The last answer on a connection that does not speak HTTP as it should."""
    phrase = {400: "Bad Request", 431: "Request Header Fields Too Large"}[code]
    answer = web.Response(status=code, text=f"{code} {phrase}{reason}")
    answer.force_close()
    return answer


def _too_large() -> StatusError:
    return StatusError(413, "RequestEntityTooLarge", f"Request entity too large: limit is {MAX_BODY}")


def _headers(response: Response) -> CIMultiDict[str]:
    headers = CIMultiDict(response.all_headers() if response.warnings else response.headers)
    headers.setdefault("Cache-Control", "no-cache, private")
    return headers


def _answer(response: Response) -> web.Response:
    return web.Response(status=response.status, headers=_headers(response), body=response.body or b"")


async def _maybe_compressed(carried: web.BaseRequest, response: Response) -> web.Response:
    body = response.body or b""
    if len(body) < _COMPRESS_FROM or not _accepts_gzip(carried.headers) or "Content-Encoding" in response.headers:
        return _answer(response)
    packed = await asyncio.get_running_loop().run_in_executor(None, gzip.compress, body, 1)
    answer = web.Response(status=response.status, headers=_headers(response), body=packed)
    answer.headers["Content-Encoding"] = "gzip"
    answer.headers["Vary"] = "Accept-Encoding"
    return answer


def _accepts_gzip(headers: Mapping[str, str]) -> bool:
    return any(word.split(";")[0].strip() == "gzip" for word in headers.get("Accept-Encoding", "").split(","))


def _uncancel() -> None:
    if (task := asyncio.current_task()) is not None:
        task.uncancel()
