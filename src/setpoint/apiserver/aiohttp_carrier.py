"""aiohttp's side of the HTTP adapter: connections whose requests are not of the plain form (see `heads.py`).

WebSocket upgrades, chunked bodies, `Expect`, HTTP/1.0, and all that is malformed. Imported when the first of them comes.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import unquote

from aiohttp import web
from aiohttp.http_exceptions import LineTooLong
from aiohttp.web_protocol import RequestHandler
from msgspec import Struct
from multidict import CIMultiDict

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import ANONYMOUS
from setpoint.apiserver import answers, heads
from setpoint.apiserver.authentication import other_protocols
from setpoint.apiserver.bounds import IDLE, SMALL_BODY, BodyBudget, check_target
from setpoint.apiserver.compression import compressed
from setpoint.apiserver.connection import (
    BODY_TIMEOUT,
    HEADER_TIMEOUT,
    MAX_BODY,
    MAX_HEADER,
    Server,
    address_of,
    too_large,
    too_late,
)
from setpoint.apiserver.heads import again
from setpoint.apiserver.identities import identity_of
from setpoint.apiserver.request import Request, Response
from setpoint.apiserver.sending import STALLED_WRITE
from setpoint.kit import logs

log = logs.get_logger("apiserver.http")

_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")


class Carrier(Struct):
    """What a handler that takes over the connection (exec, attach) gets: aiohttp's request; it leaves its answer here."""

    request: web.BaseRequest
    response: web.StreamResponse | None = None


class Protocols(web.Server):
    """aiohttp's protocol factory, for the pipeline of `server`, which also tells streams that their connection is lost."""

    def __init__(self, server: Server) -> None:
        self._options: dict[str, Any] = {
            "access_log": None,
            "tcp_keepalive": True,
            "keepalive_timeout": IDLE,
            "max_line_size": MAX_HEADER,
            "max_field_size": MAX_HEADER,
            "lingering_time": 2.0,
            "auto_decompress": False,  # Kubernetes takes bodies as they are
        }
        super().__init__(self._serve, **self._options)
        self._pipeline = server
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

    async def _serve(self, carried: web.BaseRequest) -> web.StreamResponse:
        if isinstance(carried.protocol, _Connection):
            carried.protocol.begun()
        if _BAD_ESCAPE.search(carried.raw_path):
            return _no_http(400)
        try:
            request = await self._request(carried)
        except StatusError as error:
            return self._refusal(carried, error)
        try:
            return await self._answered(carried, request)
        finally:
            if len(request.body) > SMALL_BODY:
                self._pipeline.bodies.give_back(len(request.body))

    def _refusal(self, carried: web.BaseRequest, error: StatusError) -> web.Response:
        headers = _lower(carried)
        request = Request(
            carried.method,
            carried.path,
            headers=headers,
            target=carried.raw_path,
            peer=_address(carried),
            identity=identity_of(headers),
        )
        unknown = error.code == 401
        return _answer(request, self._pipeline.refusal(request, error) if unknown else answers.error_answer(request, error))

    async def _answered(self, carried: web.BaseRequest, request: Request) -> web.StreamResponse:
        response = await self._pipeline.handle(request)
        if response.stream is not None:
            return await self._stream(request, response, response.stream)
        if request.carrier.response is not None:
            taken: web.StreamResponse = request.carrier.response
            return taken
        await response.gather()
        return _answer(request, await compressed(response, request.header("accept-encoding")))

    async def _request(self, carried: web.BaseRequest) -> Request:
        check_target(carried.raw_path)
        headers = _lower(carried)
        raw_path, _, raw_query = carried.raw_path.partition("?")
        path = unquote(raw_path) if "%" in raw_path else raw_path
        transport = carried.transport
        peer = self._pipeline.peer_of(transport) if transport is not None else None
        user = await self._pipeline.user_of(path, headers, peer)
        if (offered := headers.get("sec-websocket-protocol")) is not None:
            headers["sec-websocket-protocol"] = other_protocols(offered)
        return Request(
            method=carried.method,
            path=path,
            query=heads.parameters(raw_query) if raw_query else {},
            headers=headers,
            body=await _body(carried, self._pipeline.bodies, stranger=user is ANONYMOUS) if carried.body_exists else b"",
            user=user,
            carrier=Carrier(carried),
            target=carried.raw_path,
            peer=_address(carried),
            identity=identity_of(headers),
        )

    async def _stream(self, request: Request, response: Response, stream: AsyncIterator[bytes]) -> web.StreamResponse:
        """Send pieces as they come, until the stream ends, the client goes, or it stops reading."""
        carried: web.BaseRequest = request.carrier.request
        answer = web.StreamResponse(status=response.status, headers=_headers(request, response))
        answer.enable_chunked_encoding()
        protocol = carried.protocol
        self.streaming(protocol)
        try:
            await answer.prepare(carried)
            async for piece in stream:
                async with asyncio.timeout(STALLED_WRITE):
                    await answer.write(piece)
            await answer.write_eof()
        except (ConnectionError, TimeoutError):
            carried.protocol.force_close()
        except asyncio.CancelledError:
            if not self.was_lost(protocol):
                raise
            _uncancel()
        finally:
            self.ended(protocol)
            if (close := getattr(stream, "aclose", None)) is not None:
                await close()
        return answer


class _Connection(RequestHandler):
    """aiohttp's protocol, whose answers to what is no HTTP are those of Go's server: short, and without an echo."""

    __slots__ = ("_head_due",)

    def __init__(self, manager: Protocols, *, loop: asyncio.AbstractEventLoop, **options: Any) -> None:
        super().__init__(manager, loop=loop, **options)
        self._head_due: asyncio.TimerHandle | None = loop.call_later(HEADER_TIMEOUT, self.force_close)

    def begun(self) -> None:
        """A first head is there; from now on aiohttp's own timeout for unused connections holds."""
        if self._head_due is not None:
            self._head_due.cancel()
            self._head_due = None

    def connection_lost(self, exc: BaseException | None) -> None:
        self.begun()
        super().connection_lost(exc)

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


async def _body(carried: web.BaseRequest, budget: BodyBudget, *, stranger: bool) -> bytes:
    """The whole body; raises StatusError 413 beyond MAX_BODY, 408 when it does not arrive in time, 400 when it breaks off.

    A big one is held in `budget` (429 when it does not fit), to be given back when the request is done.
    """
    if (carried.content_length or 0) > MAX_BODY:
        raise too_large()
    if carried.headers.get("Expect", "").lower() == "100-continue":
        await carried.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        carried.writer.output_size = 0  # nothing of the answer itself
    body = bytearray()
    held = 0
    try:
        async with asyncio.timeout(BODY_TIMEOUT):
            while piece := await carried.content.readany():
                body += piece
                if len(body) > MAX_BODY:
                    raise too_large()
                if len(body) > SMALL_BODY:
                    budget.take(len(body) - held, stranger=stranger)
                    held = len(body)
    except BaseException as error:
        budget.give_back(held)
        if isinstance(error, TimeoutError):
            raise too_late() from None
        if isinstance(error, ValueError | ConnectionError | web.RequestPayloadError):
            raise StatusError(400, "BadRequest", f"cannot read the request body: {error}") from error
        raise
    return bytes(body)


def _address(carried: web.BaseRequest) -> str:
    return address_of(carried.transport) if carried.transport is not None else ""


def _no_http(code: int, reason: str = "") -> web.Response:
    """The last answer on a connection that does not speak HTTP as it should."""
    phrase = {400: "Bad Request", 431: "Request Header Fields Too Large"}[code]
    answer = web.Response(status=code, text=f"{code} {phrase}{reason}")
    answer.force_close()
    return answer


def _headers(request: Request, response: Response) -> CIMultiDict[str]:
    headers = CIMultiDict(response.all_headers() if response.warnings or response.more_headers else response.headers)
    headers["Audit-Id"] = request.identity.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    headers.setdefault("Cache-Control", "no-cache, private")
    return headers


def _lower(carried: web.BaseRequest) -> dict[str, str]:
    """Headers by lower-case name, as `heads` gives them."""
    headers: dict[str, str] = {}
    for raw, value in carried.headers.items():
        name = raw.lower()
        headers[name] = value if name not in headers else again(name, headers[name], value)
    return headers


def _answer(request: Request, response: Response) -> web.Response:
    return web.Response(status=response.status, headers=_headers(request, response), body=response.body or b"")


def _uncancel() -> None:
    if (task := asyncio.current_task()) is not None:
        task.uncancel()
