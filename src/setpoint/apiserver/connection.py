"""One client connection, for requests of the plain form (see `heads.py`): parsed, answered, streamed without a library between.

A connection works on one request at a time; pipelined ones wait in its buffer. A request that is not plain hands the whole
connection over, with what was read of it, to aiohttp. When the client goes, a stream ends at once; any other request is finished,
since its write may already be under way.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from typing import Protocol
from urllib.parse import unquote

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import ANONYMOUS, UserInfo
from setpoint.apiserver import heads
from setpoint.apiserver.authentication.certificates import Peer
from setpoint.apiserver.bounds import SMALL_BODY, BodyBudget, check_target
from setpoint.apiserver.compression import compressed
from setpoint.apiserver.identities import identity_of
from setpoint.apiserver.request import Request, Response, error_response
from setpoint.apiserver.sending import Sender
from setpoint.apiserver.turns import Turns
from setpoint.kit import logs

log = logs.get_logger("apiserver.http")

MAX_BODY = 3 * 1024 * 1024  # bytes, as kube-apiserver's MaxRequestBodyBytes
MAX_HEADER = 1024 * 1024  # bytes of a request's head, as Go's DefaultMaxHeaderBytes
HEADER_TIMEOUT = 32.0  # seconds in which a begun head must have arrived, as kube-apiserver's ReadHeaderTimeout
BODY_TIMEOUT = 60.0  # seconds in which a body must have arrived
LINGER = 1.0  # seconds for which a refused body is read and thrown away
_READ_AHEAD = 256 * 1024  # bytes read while a request is worked on


class Server(Protocol):
    """What a connection needs of its server."""

    connections: set[Connection]
    bodies: BodyBudget
    turns: Turns

    def refusal(self, request: Request, error: StatusError) -> Response:
        """The answer to who did not prove who they are."""

    async def user_of(self, path: str, headers: Mapping[str, str], peer: Peer | None) -> UserInfo:
        """Who asks; raises StatusError 401."""

    def peer_of(self, transport: asyncio.BaseTransport) -> Peer | None:
        """Who is at the other end, by their certificate."""

    async def handle(self, request: Request) -> Response:
        """The pipeline; raises nothing but cancellation."""

    def take_over(self, transport: asyncio.Transport, data: bytes) -> None:
        """Serve the rest of a connection, of which `data` was read."""


class Connection(asyncio.Protocol):
    """The state of one connection. `idle_since` is the loop's time of its last answer; None while it works."""

    def __init__(self, server: Server, loop: asyncio.AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._searched = 0  # bytes of the buffer known not to hold the end of a head
        self._head: heads.Head | None = None
        self._task: asyncio.Task[None] | None = None
        self._sender = Sender(loop, server.turns)
        self._streaming = False
        self._queued = False
        self._level = ""  # the priority level of its last request
        self._peer: Peer | None = None
        self._address = ""
        self._user: UserInfo | None = None  # known before the body is there
        self._held = 0  # bytes of a long head, or of the body, that count against the server's budget
        self._discards = False
        self._deadline: asyncio.TimerHandle | None = None
        self.idle_since: float | None = loop.time()

    # --- what the transport tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = self._sender.transport = transport  # type: ignore[assignment]  # a server's read and write
        self._peer = self._server.peer_of(transport)
        self._address = address_of(transport)
        self._server.connections.add(self)
        self._deadline = self._loop.call_later(HEADER_TIMEOUT, self.close)

    def data_received(self, data: bytes) -> None:
        if self._discards:
            return
        self._buffer += data
        if self._task is None and not self._queued:
            self._queued = True
            self._server.turns.take(self._level, self._begin)
        elif len(self._buffer) > _READ_AHEAD and self._transport is not None:
            self._transport.pause_reading()

    def eof_received(self) -> None:
        """The client sends no more: TLS and Go's server end the connection then."""

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._forget()
        self._sender.lost()
        if self._streaming:
            self.end_stream()
        if self._task is None:
            self._give_back()

    def pause_writing(self) -> None:
        self._sender.pause()

    def resume_writing(self) -> None:
        self._sender.resume()

    # --- what the server asks

    @property
    def task(self) -> asyncio.Task[None] | None:
        """The request being worked on."""
        return self._task

    def end_stream(self) -> None:
        """End a watch or log that is being streamed."""
        if self._streaming and self._task is not None:
            self._task.cancel()

    def close(self) -> None:
        """Close the connection once what was written has gone out."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _forget(self) -> None:
        self._server.connections.discard(self)
        self._arrived()

    # --- requests

    def _begin(self) -> None:
        """It is this connection's turn."""
        self._queued = False
        if self._task is None and self._transport is not None:
            if len(self._buffer) > _READ_AHEAD:
                self._transport.resume_reading()
            self._advance()

    def _advance(self) -> None:
        """Begin the next request, if it is there as a whole."""
        if self._head is None and not self._parse():
            return
        head = self._head
        if head is None:
            return
        if len(self._buffer) < head.length:
            if head.length > SMALL_BODY and self._user is None:
                self._task = self._loop.create_task(self._ask(head))
            elif self._deadline is None:
                self._deadline = self._loop.call_later(BODY_TIMEOUT, self._refuse, too_late())
            return
        self._arrived()
        body = bytes(self._buffer[: head.length]) if head.length else b""
        del self._buffer[: head.length]
        self._head = None
        self.idle_since = None
        # the task's life is this connection's, which ends it; a group per server would cost every request two callbacks
        self._task = self._loop.create_task(self._serve(head, body))

    async def _ask(self, head: heads.Head) -> None:
        """Find out, before a big body is read, who sends it, and whether there is room for it."""
        request = self._request(head, b"")
        try:
            self._user = await self._server.user_of(request.path, head.headers, self._peer)
            self._server.bodies.take(head.length, stranger=self._user is ANONYMOUS)
            self._held = head.length
        except StatusError as error:
            answer = self._server.refusal(request, error) if self._user is None else error_response(error)
            self._let_go(answer)
            return
        finally:
            self._task = None
        if self._transport is None:
            self._give_back()
            return
        self._transport.resume_reading()
        self._advance()

    def _let_go(self, answer: Response) -> None:
        """Answer and close, but not at once: what is still sent would bring a reset, and the client lose what it was told."""
        self._sender.write(answer, keep=False)
        self._discards = True
        self._buffer.clear()
        self._arrived()
        if self._transport is not None:
            self._transport.resume_reading()
            if self._transport.can_write_eof():
                self._transport.write_eof()
            self._deadline = self._loop.call_later(LINGER, self.close)

    def _give_back(self) -> None:
        """The request's body is no more."""
        self._user = None
        if self._held:
            self._server.bodies.give_back(self._held)
            self._held = 0

    def _parse(self) -> bool:
        """Take a head off the buffer; False when there is none, or the connection is another's now."""
        if not self._buffer:
            return False
        end = self._buffer.find(b"\r\n\r\n", max(self._searched - 3, 0))
        self._searched = len(self._buffer) if end < 0 else 0
        if end < 0 and len(self._buffer) <= MAX_HEADER and heads.may_begin(self._buffer):
            if self._deadline is None:
                self._deadline = self._loop.call_later(HEADER_TIMEOUT, self.close)
            if len(self._buffer) > SMALL_BODY and not self._held:
                self._reserve_head()
            return False
        self._arrived()
        self._give_back()
        head = heads.parse(bytes(self._buffer[:end])) if 0 <= end <= MAX_HEADER else None
        if head is None or head.length > MAX_BODY:
            self._hand_over()
            return False
        self._sender.identity = identity_of(head.headers)
        try:
            check_target(head.target)
        except StatusError as error:
            self._let_go(error_response(error))
            return False
        del self._buffer[: end + 4]
        self._head = head
        return True

    def _reserve_head(self) -> None:
        """A head may be as long as Go takes it, but not those of all connections at once: nobody knows yet who sends them."""
        try:
            self._server.bodies.take(MAX_HEADER, stranger=True)
            self._held = MAX_HEADER
        except StatusError as error:
            self._let_go(error_response(error))

    def _arrived(self) -> None:
        """What a deadline was set for is there."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self, error: StatusError) -> None:
        """Answer without having read the request, which makes the connection useless."""
        self._sender.write(error_response(error), keep=False)
        self.close()

    def _hand_over(self) -> None:
        transport, data = self._transport, bytes(self._buffer)
        if transport is None:
            return
        self._forget()
        self._transport = self._sender.transport = None
        self._server.take_over(transport, data)

    async def _serve(self, head: heads.Head, body: bytes) -> None:
        keep = head.keep
        try:
            keep = await self._answer(head, body) and keep
        except ConnectionError:
            keep = False
        except TimeoutError:  # the client takes nothing
            keep = False
            self.abort()
        except asyncio.CancelledError:
            keep = False  # by us alone: the client is gone, or the server stops
        except Exception:  # an error of the carrier's own ends the connection, not the server
            log.exception("connection failed", method=head.method, target=head.target)
            keep = False
        self._done(keep=keep)

    def _done(self, *, keep: bool) -> None:
        self._task = None
        self._sender.identity = ""
        self.idle_since = self._loop.time()
        if self._user is not None:
            self._give_back()
        if not keep:
            self.close()
        elif self._transport is not None:
            self._transport.resume_reading()
            if self._buffer:
                self._advance()

    async def _answer(self, head: heads.Head, body: bytes) -> bool:
        """Write the answer; tell whether the connection can be used again."""
        request = self._request(head, body)
        try:
            request.user = self._user or await self._server.user_of(request.path, head.headers, self._peer)
        except StatusError as error:
            return self._sender.write(self._server.refusal(request, error), head_only=head.method == "HEAD", keep=head.keep)
        response = await self._server.handle(request)
        self._level = response.level
        if response.stream is not None:
            return await self._stream(response, response.stream)
        accepted = head.headers.get("accept-encoding", "")
        if head.method == "HEAD":
            await response.gather()
            return self._sender.write(await compressed(response, accepted), head_only=True, keep=head.keep)
        return await self._sender.send(await compressed(response, accepted), keep=head.keep)

    async def _stream(self, response: Response, stream: AsyncIterator[bytes]) -> bool:
        """Send pieces as they come, until the stream ends, the client goes, or it stops reading."""
        self._streaming = True
        try:
            return await self._sender.stream(response, stream)
        finally:
            self._streaming = False
            if (close := getattr(stream, "aclose", None)) is not None:
                await close()

    def _request(self, head: heads.Head, body: bytes) -> Request:
        path, _, query = head.target.partition("?")
        return Request(
            method=head.method,
            path=unquote(path) if "%" in path else path,
            query=heads.parameters(query) if query else {},
            headers=head.headers,
            body=body,
            target=head.target,
            peer=self._address,
            identity=self._sender.identity,
        )


def address_of(transport: asyncio.BaseTransport) -> str:
    """The address at the other end; empty where it has none."""
    name = transport.get_extra_info("peername")
    return str(name[0]) if isinstance(name, tuple) else ""


def too_large() -> StatusError:
    return StatusError(413, "RequestEntityTooLarge", f"Request entity too large: limit is {MAX_BODY}")


def too_late() -> StatusError:
    return StatusError(408, "Timeout", "the request body did not arrive in time", {})


async def finished(connections: Collection[Connection], grace: float) -> None:
    """Wait until the requests of `connections` are answered, `grace` seconds at the most."""
    tasks = [each.task for each in connections if each.task is not None]
    if tasks:
        await asyncio.wait(tasks, timeout=grace)
