"""The server's side of a SPDY connection: streams that the client opened, over anything that carries bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from setpoint.node.server.spdy import frames
from setpoint.node.server.spdy.frames import Decoder, Encoder, ProtocolError

_HELD = 4  # pieces of a stream that its reader has not taken; then the connection waits for it
MAX_STREAMS = 256  # at a time; a forwarded connection has two


class Stream:
    """One stream: `read` until b"", `write`, and `close` for this side's end."""

    def __init__(self, number: int, headers: Mapping[str, str], connection: Connection) -> None:
        self.number = number
        self.headers = headers
        self._connection = connection
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue(_HELD)
        self._read_all = False  # the end was taken by the reader
        self.ended = False  # the client's side: no more comes
        self.closed = False  # ours

    async def read(self) -> bytes:
        """What came next; b"" at the end."""
        if self._read_all:
            return b""
        piece = await self._pieces.get()
        self._read_all = not piece
        return piece

    async def write(self, data: bytes) -> None:
        """Nothing happens once either side reset the stream, or this one closed it."""
        if not self.closed:
            await self._connection.send(Encoder.data(self.number, data))

    async def close(self) -> None:
        """End our side: we say no more."""
        if not self.closed:
            self.closed = True
            await self._connection.send(Encoder.data(self.number, b"", fin=True))
            self._connection.settle(self)

    async def reset(self, code: int = frames.CANCEL) -> None:
        """Give the stream up, both ways."""
        self.dropped()
        self._connection.forget(self)
        await self._connection.send(Encoder.reset(self.number, code))

    # --- the connection's

    async def take(self, data: bytes, *, fin: bool) -> None:
        if self.ended:
            return
        if data:
            await self._pieces.put(data)
        if fin:
            self.ended = True
            await self._pieces.put(b"")
            self._connection.settle(self)

    def dropped(self) -> None:
        """Nothing more comes or goes; what was not read is lost."""
        self.ended = self.closed = True
        while not self._pieces.empty():
            self._pieces.get_nowait()
        self._pieces.put_nowait(b"")


class Connection:
    """`send` carries bytes to the client; `opened` is called for each new stream and answers whether it is taken."""

    def __init__(self, send: Callable[[bytes], Awaitable[None]], opened: Callable[[Stream], bool]) -> None:
        self.send = send
        self._opened = opened
        self._decoder = Decoder()
        self._encoder = Encoder()
        self._streams: dict[int, Stream] = {}
        self._last = 0

    async def feed(self, data: bytes) -> None:
        """Bytes from the client. Waits while a stream's reader is behind; raises ProtocolError."""
        for frame in self._decoder.feed(data):
            match frame:
                case frames.Opened():
                    await self._open(frame)
                case frames.Data(number, data, fin):
                    if (stream := self._streams.get(number)) is not None:
                        await stream.take(data, fin=fin)
                case frames.Ended(number, fin) if fin:
                    if (stream := self._streams.get(number)) is not None:
                        await stream.take(b"", fin=True)
                case frames.Reset(number):
                    if (stream := self._streams.pop(number, None)) is not None:
                        stream.dropped()
                case frames.Ping(number) if number % 2:  # an even one answers one of ours, and we send none
                    await self.send(Encoder.ping(number))
                case _:
                    pass

    def end(self) -> None:
        """The client is gone: every stream is at its end."""
        for stream in self._streams.values():
            stream.dropped()
        self._streams.clear()

    def settle(self, stream: Stream) -> None:
        """A stream that ended on both sides is forgotten."""
        if stream.ended and stream.closed:
            self.forget(stream)

    def forget(self, stream: Stream) -> None:
        self._streams.pop(stream.number, None)

    async def _open(self, frame: frames.Opened) -> None:
        number = frame.stream
        if number <= self._last or number % 2 == 0:
            raise ProtocolError(f"stream {number} after {self._last}")
        self._last = number
        stream = Stream(number, frame.headers, self)
        if len(self._streams) >= MAX_STREAMS or not self._opened(stream):
            await self.send(Encoder.reset(number, frames.REFUSED_STREAM))
            return
        self._streams[number] = stream
        await self.send(self._encoder.reply(number))
        if frame.fin:
            await stream.take(b"", fin=True)
