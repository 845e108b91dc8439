"""Passing a request on to the server behind an APIService, and its answer back, piece by piece where it is long.

Source: kube-aggregator `pkg/apiserver/handler_proxy.go`, apimachinery `util/proxy/upgradeaware.go`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from setpoint.apiserver.aggregation.backend import Backend, Headers, Unreachable, identity
from setpoint.apiserver.aggregation.registration import Registration
from setpoint.apiserver.request import Request, Response, text_response

if TYPE_CHECKING:
    import aiohttp

_WHOLE = 1024 * 1024  # bytes of an answer that are read before they are passed on
#: what belongs to one connection only (RFC 9110), or is ours to say
_HOP = frozenset(
    (
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)
_OURS = frozenset(("authorization", "host", "content-length", "expect"))


class Proxy:
    """The handler of one registration's paths."""

    def __init__(self, backend: Backend, server: Registration) -> None:
        self._backend = backend
        self._server = server

    async def handle(self, request: Request) -> Response:
        if not self._server.available:
            return refused("service unavailable")
        if request.header("upgrade"):
            from setpoint.apiserver.aggregation import upgrading

            return await upgrading.relay(self._backend, self._server, request)
        try:
            answer = await self._backend.open(
                self._server, request.method, target_of(request), headers=headers_of(request), data=request.body or None
            )
            return await _passed_on(answer)
        except Unreachable as error:
            return refused(f"error trying to reach service: {error}")


def refused(why: str, status: int = 503) -> Response:
    """What Go's `http.Error` writes."""
    return text_response(f"{why}\n", status)


def target_of(request: Request) -> str:
    """Path and parameters as they are sent on, the parameters in the order of their names."""
    path = quote(request.path, safe="/:@!$&'()*+,;=~-._")
    query = urlencode(sorted((name, value) for name, values in request.query.items() for value in values))
    return f"{path}?{query}" if query else path


def headers_of(request: Request) -> Headers:
    """The client's headers, and who it is as we know it."""
    return end_to_end(request) + identity(request.user)


def end_to_end(request: Request) -> Headers:
    """The client's headers, but for those that say who it is, and those of its connection."""
    dropped = {word.strip().lower() for word in request.header("connection").split(",")}
    return [
        (name, value)
        for name, value in request.headers.items()
        if name not in _HOP and name not in _OURS and name not in dropped and not _is_identity(name) and "\n" not in value
    ]


def _is_identity(name: str) -> bool:
    return name.startswith(("x-remote-", "impersonate-"))


async def _passed_on(answer: aiohttp.ClientResponse) -> Response:
    headers = dict(kept(answer.headers))
    length = answer.content_length
    if length is not None and length <= _WHOLE:
        try:
            return Response(answer.status, headers, await _read(answer))
        finally:
            answer.release()
    headers.pop("Content-Length", None)
    return Response(answer.status, headers, stream=_pieces(answer))


async def _read(answer: aiohttp.ClientResponse) -> bytes:
    import aiohttp

    try:
        return await answer.read()
    except (aiohttp.ClientError, OSError) as error:
        raise Unreachable("unexpected EOF") from error


def kept(headers: Mapping[str, str]) -> Headers:
    """The headers of an answer, but for those of its connection."""
    dropped = {word.strip().lower() for word in headers.get("Connection", "").split(",")}
    return [(name, value) for name, value in headers.items() if name.lower() not in _HOP and name.lower() not in dropped]


async def _pieces(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """An answer that goes on: a watch, or what is too long to keep. Ends when the server goes."""
    import aiohttp

    try:
        async for piece in answer.content.iter_any():
            yield piece
    except (aiohttp.ClientError, OSError):
        return  # the client sees an answer that breaks off, as it would without us
    finally:
        answer.close()
