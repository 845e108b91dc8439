"""What goes out on one connection: answers at once, long ones piece by piece, streams; never faster than the client reads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from setpoint.apiserver import heads
from setpoint.apiserver.request import Response
from setpoint.apiserver.turns import Turns

STALLED_WRITE = 60.0  # seconds after which a reader that takes nothing is cut off
_SLICE = 1024 * 1024  # bytes of a large answer that are sent in one turn of the loop: some 5 ms
_JOIN_UP_TO = 64 * 1024  # bytes; a bigger body is not copied behind its head


class Sender:
    """The sending side of a connection. `identity` is that of the request being answered, `transport` None without a client.

    What waits for the client raises ConnectionResetError when it goes, TimeoutError when it takes nothing for long.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, turns: Turns) -> None:
        self.identity = ""
        self.transport: asyncio.Transport | None = None
        self._loop = loop
        self._turns = turns
        self._writable: asyncio.Future[None] | None = None

    # --- what the transport tells

    def pause(self) -> None:
        if self._writable is None:
            self._writable = self._loop.create_future()

    def resume(self) -> None:
        writable, self._writable = self._writable, None
        if writable is not None and not writable.done():
            writable.set_result(None)

    def lost(self) -> None:
        self.transport = None
        if self._writable is not None and not self._writable.done():
            self._writable.set_exception(ConnectionResetError("the client is gone"))
            self._writable.exception()  # seen: whoever waited may have been cancelled, and nobody is left to look

    # --- answers

    def write(self, response: Response, *, head_only: bool = False, keep: bool) -> bool:
        """Send an answer in one go; tell whether the connection lives."""
        transport = self.transport
        if transport is None:
            return False
        body = response.body or b""
        length = -1 if head_only and "Content-Length" in response.headers else len(body)
        head = heads.answer(response.status, _headers(response), length, identity=self.identity, keep=keep)
        if head_only or not body:
            transport.write(head)
        elif len(body) < _JOIN_UP_TO:
            transport.write(head + body)
        else:
            transport.writelines((head, body))
        return True

    async def send(self, response: Response, *, keep: bool) -> bool:
        """Send an answer, a large one a slice at a time, and wait until the client has taken most of it."""
        if response.pieces is not None:
            return await self._send_pieces(response, response.pieces, keep=keep)
        if response.body is not None and len(response.body) > _SLICE:
            return await self._send_large(response, response.body, keep=keep)
        alive = self.write(response, keep=keep)
        if self._writable is not None:
            await self._writable_again()
        return alive

    async def _send_large(self, response: Response, body: bytes, *, keep: bool) -> bool:
        """Send a slice at a time, each when its client has taken the one before and no other connection is at it."""
        self._put(heads.answer(response.status, _headers(response), len(body), identity=self.identity, keep=keep))
        view = memoryview(body)
        for start in range(0, len(body), _SLICE):
            await self._turns.slice()
            self._put(view[start : start + _SLICE])
            if self._writable is not None:
                await self._writable_again()
        return True

    async def _send_pieces(self, response: Response, pieces: AsyncGenerator[bytes], *, keep: bool) -> bool:
        """Send a body that is made meanwhile, a piece at a time in the same way."""
        self._put(heads.answer(response.status, _headers(response), None, identity=self.identity, keep=keep))
        async with aclosing(pieces):
            async for piece in pieces:
                await self._turns.slice()
                await self._send_piece(piece)
        self._put(b"0\r\n\r\n")
        return True

    async def stream(self, response: Response, stream: AsyncIterator[bytes]) -> bool:
        """Send pieces as they come, until there are no more."""
        self._put(heads.answer(response.status, _headers(response), None, identity=self.identity))
        async for piece in stream:
            await self._send_piece(piece)
        self._put(b"0\r\n\r\n")
        return True

    async def _send_piece(self, piece: bytes) -> None:
        self._put(b"%x\r\n%b\r\n" % (len(piece), piece))
        if self._writable is not None:
            await self._writable_again()

    def _put(self, data: bytes | memoryview) -> None:
        if self.transport is None:
            raise ConnectionResetError("the client is gone")
        self.transport.write(data)

    async def _writable_again(self) -> None:
        """Wait for the client to read, however little of how much."""
        writable, transport = self._writable, self.transport
        if writable is None or transport is None:
            return
        left = transport.get_write_buffer_size()
        while not (await asyncio.wait((writable,), timeout=STALLED_WRITE))[0]:
            if transport.get_write_buffer_size() >= left:
                raise TimeoutError
            left = transport.get_write_buffer_size()
        await writable


def _headers(response: Response) -> list[tuple[str, str]]:
    return response.all_headers() if response.warnings or response.more_headers else [*response.headers.items()]
