"""The HTTP adapter: sockets and TLS on one side, the pipeline's Request and Response on the other.

It adds what only a carrier can know: the peer's certificate, the size and pace of bodies, compression, and the end of a
connection (which ends its watch at once). Everything else is the pipeline's. Plain requests are served by `connection.py`; a
connection that asks for more (an upgrade, a chunked body) goes over to aiohttp, in `aiohttp_carrier.py`.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakSet

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver import answers, bounds
from setpoint.apiserver.authentication.certificates import Peer
from setpoint.apiserver.connection import Connection, finished
from setpoint.apiserver.pki import KeyPair
from setpoint.apiserver.request import Request, Response
from setpoint.apiserver.turns import Turns
from setpoint.kit import tls

if TYPE_CHECKING:
    from setpoint.apiserver.aiohttp_carrier import Protocols

_SWEEP = 60.0
_HANDSHAKE = 30.0  # seconds in which TLS must be agreed upon
_ROOM = 20  # of so many connections one is closed to make room, the longest unused first
_UNUSED = 5.0  # seconds after which an unused connection may have to make room


class Handler(Protocol):
    """The pipeline behind the adapter."""

    async def handle(self, request: Request) -> Response: ...


class Authenticator(Protocol):
    """Finds the user of a request; raises StatusError 401."""

    async def authenticate(self, path: str, headers: Mapping[str, str], peer: Peer | None) -> UserInfo: ...


class Peers(Protocol):
    """Reads client certificates."""

    def peer(self, peercert: Mapping[str, Any] | None, ssl_object: Any) -> Peer | None: ...


#: answers a request whose sender did not prove who they are
Refuse = Callable[[Request, StatusError], Response]


class HttpServer:
    """Serves one pipeline on one address. `start` returns once connections are accepted; `stop` ends them all.

    Of `limit` connections the unused ones make room for new ones; when all are in use, new ones are closed at once.
    """

    def __init__(
        self,
        pipeline: Handler,
        authenticator: Authenticator,
        peers: Peers | None = None,
        *,
        limit: int = 0,
        refusal: Refuse = answers.error_answer,
    ) -> None:
        self.connections: set[Connection] = set()
        self.bodies = bounds.BodyBudget()
        self.turns: Turns
        self.refusal = refusal
        self.limit = limit
        self._accepted: WeakSet[Connection] = WeakSet()  # those whose handshake goes on, too
        self.handle = pipeline.handle
        self.user_of = authenticator.authenticate
        self._peers = peers
        self._server: asyncio.Server | None = None
        self._protocols: Protocols | None = None
        self._sweeping: asyncio.TimerHandle | None = None

    async def start(self, host: str, port: int, context: ssl.SSLContext | None) -> int:
        """Listen; returns the port. Raises OSError when the address is taken."""
        loop = asyncio.get_running_loop()
        self.limit = self.limit or bounds.connections()
        self.turns = Turns(loop)
        handshake = None if context is None else _HANDSHAKE
        self._server = await loop.create_server(
            lambda: self._accept(loop), host, port, ssl=context, backlog=1024, ssl_handshake_timeout=handshake
        )
        self._sweeping = loop.call_later(_SWEEP, self._sweep)
        return int(self._server.sockets[0].getsockname()[1])

    def _accept(self, loop: asyncio.AbstractEventLoop) -> asyncio.Protocol:
        """The protocol of a new connection."""
        if self.open() >= self.limit and not self._make_room(loop.time()):
            bounds.REFUSED.labels().inc()
            return _Unwanted()
        connection = Connection(self, loop)
        self._accepted.add(connection)
        return connection

    def open(self) -> int:
        """How many connections there are."""
        return len(self._accepted) + (len(self._protocols.connections) if self._protocols is not None else 0)

    def _make_room(self, now: float) -> bool:
        """Close some of the connections that nobody uses; tell whether there were any."""
        unused = [each for each in self.connections if each.idle_since is not None and now - each.idle_since > _UNUSED]
        unused.sort(key=lambda each: each.idle_since or 0.0)
        for connection in unused[: len(self.connections) // _ROOM + 1]:
            self._accepted.discard(connection)
            connection.close()
        return bool(unused)

    async def stop(self, grace: float = 1.0) -> None:
        """Accept no more, give requests `grace` seconds, then cut what is left."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        if self._sweeping is not None:
            self._sweeping.cancel()
        if self._protocols is not None:
            self._protocols.end_streams()
        for connection in self.connections:
            connection.end_stream()
        await finished(self.connections, grace)
        for connection in [*self.connections]:
            connection.abort()
        if self._protocols is not None:
            await self._protocols.shutdown(grace)

    def peer_of(self, transport: asyncio.BaseTransport) -> Peer | None:
        """Who is at the other end, by their certificate."""
        if self._peers is None:
            return None
        return self._peers.peer(transport.get_extra_info("peercert"), transport.get_extra_info("ssl_object"))

    def take_over(self, transport: asyncio.Transport, data: bytes) -> None:
        """Let aiohttp serve the rest of a connection, of which `data` was read."""
        if self._protocols is None:
            from setpoint.apiserver.aiohttp_carrier import Protocols

            self._protocols = Protocols(self)
        protocol = self._protocols()
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        protocol.data_received(data)

    def _sweep(self) -> None:
        """Close connections that nobody has used for long."""
        loop = asyncio.get_running_loop()
        for connection in [*self.connections]:
            if connection.idle_since is not None and loop.time() - connection.idle_since > bounds.IDLE:
                connection.close()
        self._sweeping = loop.call_later(_SWEEP, self._sweep)


class _Unwanted(asyncio.Protocol):
    """A connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


def server_context(pair: KeyPair, client_cas: Sequence[str]) -> ssl.SSLContext:
    """TLS 1.2 or newer, HTTP/1.1, with client certificates of `client_cas` (files) accepted, not required.

    Sessions are not resumed: a resumed one does not tell who signed the client's certificate.
    """
    context = tls.harden(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
    context.load_cert_chain(pair.certificate, pair.key)
    for file in client_cas:
        context.load_verify_locations(file)
    context.num_tickets = 0
    context.options |= ssl.OP_NO_TICKET
    context.verify_mode = ssl.CERT_OPTIONAL
    context.set_alpn_protocols(["http/1.1"])
    return context
