"""The client: one POST to what a `clientConfig` names.

Connections are kept and used again; that a kept one was closed by its server meanwhile is found out only by using it, so then the
request is sent once more, as Go's client does. Cancellation closes the connection that was in use.
Source: apiserver `pkg/util/webhook/client.go`.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec import Struct

from setpoint.apiserver import reach
from setpoint.apiserver.webhooks import failures
from setpoint.apiserver.webhooks.failures import CallFailed, Unprepared
from setpoint.apiserver.webhooks.identities import ANONYMOUS, NOBODY, Header, Identities, Identity
from setpoint.apiserver.webhooks.services import Address, ServiceResolver, Services, host_of
from setpoint.storage.protocol import Store

if TYPE_CHECKING:
    import aiohttp

#: bytes of an answer: a conversion returns as many objects as a list has
LIMIT = 64 * 1024 * 1024
_PER_HOST = 100
_HEADERS = (
    ("Content-Type", "application/json"),
    ("Accept", "application/json, */*"),
    ("Accept-Encoding", "identity"),
    ("User-Agent", "kube-apiserver-admission"),
)


class _Gone(Exception):
    """The connection ended before an answer came."""


class _Post(Struct, frozen=True):
    """One request; `of_service` says that the URL's host is a service of the cluster."""

    url: str
    body: bytes
    headers: Sequence[Header]
    trust: ssl.SSLContext
    of_service: bool
    limit: int


class WebhookClient:
    """Calls webhooks. `close()` it when the server stops; a call after that opens new connections."""

    def __init__(self, store: Store) -> None:
        self.services = Services(store)
        self._resolver = ServiceResolver(self.services)
        self._sessions: dict[bool, aiohttp.ClientSession] = {}

    async def close(self) -> None:
        for session in self._sessions.values():
            await session.close()
        self._sessions.clear()

    async def call(
        self, config: Mapping[str, Any], body: bytes, *, seconds: int, limit: int = LIMIT, users: Identities = ANONYMOUS
    ) -> bytes:
        """The body of a webhook's answer; one of `users` asks it. Raises CallFailed."""
        post = _post_for(config, body, seconds, limit, users)
        reused: list[bool] = []
        try:
            async with asyncio.timeout(seconds):
                try:
                    return await self._send(post, reused)
                except _Gone:
                    if not reused:
                        raise
                return await self._send(post, reused)
        except TimeoutError:
            raise CallFailed(f'Post "{post.url}": context deadline exceeded') from None
        except _Gone:
            raise CallFailed(f'Post "{post.url}": EOF') from None

    async def _send(self, post: _Post, reused: list[bool]) -> bytes:
        import aiohttp

        session = self._session(of_service=post.of_service)
        try:
            async with session.post(
                post.url, data=post.body, headers=post.headers, allow_redirects=False, ssl=post.trust, trace_request_ctx=reused
            ) as answer:
                content = await _whole(answer, post.limit)
        except aiohttp.ClientConnectorError as error:
            raise CallFailed(f'Post "{post.url}": {self._dialling(post, error)}') from None
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, ConnectionError):
            raise _Gone from None
        except aiohttp.ClientPayloadError:
            raise CallFailed("unexpected EOF") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise CallFailed(f'Post "{post.url}": {error or "EOF"}') from None
        if not 200 <= answer.status <= 206:
            raise CallFailed(failures.refusal(answer.status, content), answer.status)
        return content

    def _dialling(self, post: _Post, error: aiohttp.ClientConnectorError) -> str:
        host = urlsplit(post.url).hostname or ""
        reason = getattr(error, "certificate_error", None) or error.os_error
        if isinstance(reason, ssl.SSLCertVerificationError):
            return failures.verification(reason, host)
        address = self._resolver.sent.get(host) if post.of_service else None
        return failures.dialling(reason, host, address or Address(host, error.port or 0))

    def _session(self, *, of_service: bool) -> aiohttp.ClientSession:
        session = self._sessions.get(of_service)
        if session is not None:
            return session
        import aiohttp

        trace = aiohttp.TraceConfig()
        trace.on_connection_reuseconn.append(_note_reuse)
        resolver: Any = self._resolver if of_service else None
        session = self._sessions[of_service] = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, limit_per_host=_PER_HOST, resolver=resolver, use_dns_cache=False, socket_factory=reach.make_socket
            ),
            timeout=aiohttp.ClientTimeout(),
            cookie_jar=aiohttp.DummyCookieJar(),
            trace_configs=[trace],
            auto_decompress=False,
        )
        return session


def _post_for(config: Mapping[str, Any], body: bytes, seconds: int, limit: int, users: Identities) -> _Post:
    if url := config.get("url"):
        parts = urlsplit(url)
        target = parts.netloc if parts.port else f"{parts.netloc}:443"
    else:
        service = config.get("service") or {}
        target = f"{host_of(service.get('namespace', ''), service.get('name', ''))}:{service.get('port') or 443}"
        path = (service.get("path") or "").removeprefix("/")
    asked = f"{url}{'&' if '?' in url else '?'}" if url else f"https://{target}/{path}?"
    user = users.find(target)
    try:
        headers, trust = (*_HEADERS, *user.shown()), trust_of(config.get("caBundle") or "", user, user.stamp())
    except OSError as error:
        raise Unprepared(failures.opening(error), 500) from None
    return _Post(f"{asked}timeout={seconds}s", body, headers, trust, of_service=not url, limit=limit)


@lru_cache(maxsize=256)
def trust_of(bundle: str, user: Identity = NOBODY, _stamp: int = 0) -> ssl.SSLContext:
    """A context that trusts a base64 bundle of PEM certificates; without one, what the system trusts. Raises Unprepared.

    It has the user's certificate, as it was at the time of the stamp; raises OSError where that cannot be read.
    """
    try:
        context = ssl.create_default_context(cadata=decoded_bundle(bundle))
    except (ValueError, ssl.SSLError):
        raise Unprepared("unable to load root certificates: unable to parse bytes as PEM block", 500) from None
    if user.certificate is not None:
        with user.certificate.certificate_files() as files:
            context.load_cert_chain(*(files or ()))
    return context


def decoded_bundle(bundle: str) -> str | None:
    """The PEM text of a bundle. Raises ValueError."""
    return base64.b64decode(bundle).decode() if bundle else None


async def _note_reuse(_session: object, context: Any, _params: object) -> None:
    context.trace_request_ctx.append(True)


async def _whole(answer: aiohttp.ClientResponse, limit: int) -> bytes:
    """An answer's body, if it is not too large."""
    pieces, size = [], 0
    async for piece in answer.content.iter_any():
        size += len(piece)
        if size > limit:
            answer.close()
            raise CallFailed(f"the answer is larger than {limit} bytes")
        pieces.append(piece)
    return b"".join(pieces)
