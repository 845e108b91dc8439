"""Connections to the servers behind APIServices: their certificates are checked against the registration's bundle, ours is the
front proxy's, and who asks stands in X-Remote headers.

Source: client-go `transport/round_trippers.go` (authProxyRoundTripper).
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver import reach
from setpoint.apiserver.aggregation.registration import Registration
from setpoint.apiserver.pki import KeyPair
from setpoint.apiserver.webhooks import failures
from setpoint.apiserver.webhooks.client import decoded_bundle
from setpoint.apiserver.webhooks.services import Address, ServiceResolver, Services

if TYPE_CHECKING:
    import aiohttp

_DIAL = 30.0  # seconds
_PER_HOST = 100
_UNESCAPED = "!#$&'*+^_`|~-."  # what a header's name may have besides letters and digits, but for the percent sign

Headers = list[tuple[str, str]]


class Unreachable(Exception):
    """A server did not answer; says why as Go does."""


class Backend:
    """One pool of connections for all of them. `pair` is the front proxy's certificate, if there is one."""

    def __init__(self, services: Services, pair: KeyPair | None = None) -> None:
        self.services = services
        self.pair = pair
        self._resolver = ServiceResolver(services)
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    @asynccontextmanager
    async def request(
        self, server: Registration, method: str, path: str, **options: Any
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """A request to a server; its answer is read inside the block. Raises Unreachable."""
        import aiohttp

        try:
            async with self.session().request(
                method, f"{server.url}{path}", ssl=self.trust(server), allow_redirects=False, **options
            ) as answer:
                yield answer
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise Unreachable(self.why(server, error)) from error

    async def open(self, server: Registration, method: str, path: str, **options: Any) -> aiohttp.ClientResponse:
        """The same, but the answer is the caller's to close."""
        import aiohttp

        try:
            return await self.session().request(
                method, f"{server.url}{path}", ssl=self.trust(server), allow_redirects=False, **options
            )
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise Unreachable(self.why(server, error)) from error

    def why(self, server: Registration, error: BaseException) -> str:
        """Go's words for what went wrong on the way to a server."""
        import aiohttp

        host = server.url.removeprefix("https://").rpartition(":")[0]
        if isinstance(error, TimeoutError):
            return "context deadline exceeded"
        if isinstance(error, aiohttp.ClientConnectorError):
            reason = getattr(error, "certificate_error", None) or error.os_error
            if isinstance(reason, ssl.SSLCertVerificationError):
                return failures.verification(reason, host)
            return failures.dialling(reason, host, self._resolver.sent.get(host) or Address(host, server.port))
        return str(error) if isinstance(error, OSError) and str(error) else "EOF"

    def trust(self, server: Registration) -> ssl.SSLContext:
        return _trust(server.bundle, server.insecure, self.pair)

    def session(self) -> aiohttp.ClientSession:
        if self._session is None:
            import aiohttp

            resolver: Any = self._resolver
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0, limit_per_host=_PER_HOST, resolver=resolver, use_dns_cache=False, socket_factory=reach.make_socket
                ),
                trace_configs=[reach.no_redirects()],
                timeout=aiohttp.ClientTimeout(sock_connect=_DIAL),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            )
        return self._session


@lru_cache(maxsize=64)
def _trust(bundle: str, insecure: bool, pair: KeyPair | None) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=decoded_bundle(bundle))
    if insecure:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if pair is not None:
        context.load_cert_chain(pair.certificate, pair.key)
    return context


def identity(user: UserInfo) -> Headers:
    """The headers that say who asks."""
    headers: Headers = [("X-Remote-User", user.name)]
    if user.uid:
        headers.append(("X-Remote-Uid", user.uid))
    headers += [("X-Remote-Group", group) for group in user.groups]
    headers += [(f"X-Remote-Extra-{_escaped(key)}", value) for key, values in user.extra.items() for value in values]
    return headers


def _escaped(key: str) -> str:
    return quote(key, safe=_UNESCAPED)
