"""The handler of `proxy` subresources: the request as it came, but for who sent it, and the answer piece by piece.

A pod or a service never sees the user's credentials, nor who the user is; cookies and whatever else the client says it does see.
Redirects are the client's to follow, not ours. Certificates of pods and services are not verified, as in Kubernetes, which has
no name to verify them by; those of nodes' agents are.
Sources: apimachinery `util/proxy/upgradeaware.go`, `util/proxy/transport.go`; apiserver `endpoints/handlers/rest.go`.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from setpoint.api.machinery.status import StatusError
from setpoint.apiserver import connecting, reach
from setpoint.apiserver.aggregation.backend import Headers
from setpoint.apiserver.aggregation.proxy import end_to_end, kept
from setpoint.apiserver.call import Call
from setpoint.apiserver.object_proxy.destination import Destination, Destinations
from setpoint.apiserver.object_proxy.rewriting import Links, joined
from setpoint.apiserver.request import Request, Response
from setpoint.apiserver.webhooks import failures
from setpoint.storage.protocol import Store

if TYPE_CHECKING:
    import aiohttp

    from setpoint.apiserver.kubelet_proxy.proxy import KubeletProxy

_DIAL = 30.0  # seconds until a connection stands, the wait for a free one included
_HEAD = 600.0  # seconds in which an answer must begin
_CONNECTIONS, _PER_HOST = 1000, 100
_WHOLE = 64 * 1024  # bytes of an answer that are read before they are passed on
_PAGE = 1024 * 1024  # bytes of an HTML page whose links are rewritten; longer ones are passed on as they are
_SAFE = "/:@!$&'()*+,;=~-._"
#: what other origins may do here is not for a pod to say
_CORS = frozenset(
    (
        "access-control-allow-credentials",
        "access-control-allow-headers",
        "access-control-allow-methods",
        "access-control-allow-origin",
    )
)


class ObjectProxy:
    """One pool of connections for all pods, services and nodes. `agents` knows how to talk to nodes, where there are any."""

    def __init__(self, store: Store, agents: KubeletProxy | None = None) -> None:
        self._destinations = Destinations(store)
        self._agents = agents
        self._session: aiohttp.ClientSession | None = None
        self._agents_session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        for session in (self._session, self._agents_session):
            if session is not None:
                await session.close()
        self._session = self._agents_session = None

    async def handle(self, call: Call) -> Response:
        """Answer `…/<name>/proxy[/<path>]`, by whatever method."""
        request, info = call.request, call.info
        place = await self._destinations.find(call.resource.plural, info.namespace, info.name)
        path = path_of(call)
        if request.header("upgrade") and "upgrade" in request.header("connection").lower():
            return await self._upgrade(request, place, path)
        if not path and request.method in ("GET", "HEAD"):
            query = _query(request)
            return Response(301, {"Location": f"{quote(request.path, _SAFE)}/{query}"}, b"")
        answer = await self._ask(request, place, path)
        prefix = request.path.removesuffix(connecting.path_of(call))
        links = Links(prefix, (request.header("host"), place.authority))
        return await _passed_on(request, answer, links)

    async def _ask(self, request: Request, place: Destination, path: str) -> aiohttp.ClientResponse:
        import aiohttp
        from yarl import URL

        url = URL(f"{place.url}{quote(path, _SAFE) or '/'}{_query(request)}", encoded=True)
        try:
            async with asyncio.timeout(_HEAD):
                return await self._connections(place).request(
                    request.method, url, headers=_headers(request), data=request.body or None, allow_redirects=False
                )
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise unreachable(_why(place, error)) from error

    async def _upgrade(self, request: Request, place: Destination, path: str) -> Response:
        import aiohttp
        from yarl import URL

        from setpoint.apiserver.aggregation.upgrading import NotUpgraded, pass_on

        url = URL(f"{place.url}{quote(path, _SAFE) or '/'}{_query(request)}", encoded=True)
        try:
            return await pass_on(self._connections(place), url, request, _headers(request), tls=True)
        except NotUpgraded as error:
            raise StatusError(error.code, "BadRequest" if error.code == 400 else "", str(error), {}) from error
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise unreachable(_why(place, error)) from error

    def _connections(self, place: Destination) -> aiohttp.ClientSession:
        """Those of a destination's kind; raises StatusError 503 for agents where there are none."""
        if not place.agent:
            if self._session is None:
                self._session = _session(reach.make_proxied_socket, _unverified())
            return self._session
        if self._agents is None:
            raise unreachable("no nodes are known here")
        if self._agents_session is None:
            self._agents_session = _session(reach.make_socket, self._agents.trust())
        return self._agents_session


def _session(make_socket: Any, context: ssl.SSLContext) -> aiohttp.ClientSession:
    import aiohttp

    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            ssl=context, limit=_CONNECTIONS, limit_per_host=_PER_HOST, force_close=True, socket_factory=make_socket
        ),
        trace_configs=[reach.no_redirects()],
        timeout=aiohttp.ClientTimeout(total=None, connect=_DIAL),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
    )


def _unverified() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def path_of(call: Call) -> str:
    """What is asked of the destination, without dots and doubled slashes; empty where not even a slash follows `proxy`."""
    return joined(connecting.path_of(call))


def _query(request: Request) -> str:
    """The parameters as they came, with their question mark; empty where there are none."""
    _, mark, raw = request.target.partition("?")
    if mark or request.target:
        return f"?{raw}" if raw else ""
    made = urlencode([(name, value) for name, values in request.query.items() for value in values])
    return f"?{made}" if made else ""


def _headers(request: Request) -> Headers:
    """The client's own, `Host` included, and what the proxy adds."""
    added = ("x-forwarded-uri", "x-forwarded-for")
    headers = [(name, value) for name, value in end_to_end(request) if name not in added]
    if host := request.header("host"):
        headers.append(("Host", host))
    headers.append(("X-Forwarded-Uri", quote(request.path, _SAFE)))
    if peers := ", ".join(filter(None, (request.header("x-forwarded-for"), request.peer))):
        headers.append(("X-Forwarded-For", peers))
    return headers


def unreachable(why: str) -> StatusError:
    return StatusError(503, "ServiceUnavailable", f"error trying to reach service: {why}")


def _why(place: Destination, error: BaseException) -> str:
    """Go's words for what went wrong on the way."""
    import aiohttp

    if isinstance(error, TimeoutError):
        return f"dial tcp {place.authority}: i/o timeout"
    if isinstance(error, aiohttp.ClientConnectorError):
        reason = getattr(error, "certificate_error", None) or error.os_error
        if isinstance(reason, reach.NotAllowed):
            return "address not allowed"
        if isinstance(reason, ssl.SSLCertVerificationError):
            return failures.verification(reason, place.host)
        return failures.dialling(reason, place.host, place.authority)
    return str(error) if isinstance(error, ValueError | reach.NotAllowed) else "EOF"


# ---- the way back


async def _passed_on(request: Request, answer: aiohttp.ClientResponse, links: Links) -> Response:
    headers, more = _answered(answer, links)
    if request.method == "HEAD" or answer.status in (204, 304):
        answer.close()
        return Response(answer.status, headers, b"", more_headers=more)
    length = answer.content_length
    page = answer.content_type == "text/html" and "Location" not in headers and "Content-Encoding" not in answer.headers
    if length is None or length > (_PAGE if page else _WHOLE):
        headers.pop("Content-Length", None)
        return Response(answer.status, headers, stream=_pieces(answer), more_headers=more)
    body = await _whole(answer)
    headers.pop("Content-Length", None)
    if page:
        body = await asyncio.to_thread(_page, body, links)
    return Response(answer.status, headers, body, more_headers=more)


def _answered(answer: aiohttp.ClientResponse, links: Links) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The headers of an answer: the first of each name, and the others."""
    first: dict[str, str] = {}
    more: list[tuple[str, str]] = []
    for name, value in kept(answer.headers):
        if name.lower() in _CORS:
            continue
        title = "-".join(word.capitalize() for word in name.split("-"))
        if title == "Location":
            first[title] = links.rewritten(value)
        elif title in first:
            more.append((title, value))
        else:
            first[title] = value
    return first, more


def _page(body: bytes, links: Links) -> bytes:
    """A page as it came where it is no UTF-8."""
    try:
        return links.in_page(body.decode()).encode()
    except UnicodeDecodeError:
        return body


async def _whole(answer: aiohttp.ClientResponse) -> bytes:
    import aiohttp

    try:
        return await answer.read()
    except (aiohttp.ClientError, OSError) as error:
        raise unreachable("unexpected EOF") from error
    finally:
        answer.close()


async def _pieces(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """An answer that is long, or goes on; one that breaks off breaks off the client's connection, too."""
    import aiohttp

    try:
        async for piece in answer.content.iter_any():
            yield piece
    except (aiohttp.ClientError, OSError) as error:
        raise ConnectionResetError("the destination broke off its answer") from error
    finally:
        answer.close()
