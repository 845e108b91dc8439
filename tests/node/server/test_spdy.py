"""SPDY/3.1: frames in pieces of any size, streams with two ends, and what is no SPDY."""

from __future__ import annotations

import asyncio
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.node.server.spdy import Connection, ProtocolError, Stream, frames
from setpoint.node.server.spdy.frames import Data, Decoder, Encoder, Opened, Ping, Reset

WORDS = st.text("abcdefghij-", min_size=1, max_size=8)
SENT = st.one_of(
    st.builds(Opened, st.integers(1, 2**31 - 1), st.dictionaries(WORDS, st.text(max_size=20), max_size=4)),
    st.builds(Data, st.integers(1, 2**31 - 1), st.binary(max_size=300), st.booleans()),
    st.builds(Ping, st.integers(0, 2**32 - 1)),
    st.builds(Reset, st.integers(1, 2**31 - 1)),
)


def encoded(encoder: Encoder, frame: frames.Frame) -> bytes:
    match frame:
        case Opened(stream, headers):
            return encoder.opened(stream, headers)
        case Data(stream, data, fin):
            return encoder.data(stream, data, fin=fin)
        case Ping(number):
            return encoder.ping(number)
        case Reset(stream):
            return encoder.reset(stream, frames.CANCEL)
    raise AssertionError(frame)


def test_the_dictionary_is_the_protocols() -> None:
    assert zlib.adler32(frames.DICTIONARY) == 0xE3C6A7C2


@given(st.lists(SENT, max_size=12), st.integers(1, 50))
def test_frames_come_out_as_they_went_in_whatever_the_pieces(sent: list[frames.Frame], size: int) -> None:
    encoder, decoder = Encoder(), Decoder()
    data = b"".join(encoded(encoder, frame) for frame in sent)
    pieces = [data[place : place + size] for place in range(0, len(data), size)]
    assert [frame for piece in pieces for frame in decoder.feed(piece)] == sent


def head(kind: int, length: int, version: int = 3) -> bytes:
    return struct.pack(">II", 0x80000000 | version << 16 | kind, length)


def packed(text: bytes) -> bytes:
    pack = zlib.compressobj(zdict=frames.DICTIONARY)
    return pack.compress(text) + pack.flush(zlib.Z_SYNC_FLUSH)


def opening(block: bytes) -> bytes:
    return head(frames.SYN_STREAM, 10 + len(block)) + struct.pack(">IIH", 1, 0, 0) + block


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        head(frames.PING, 4, version=2) + bytes(4),
        head(frames.PING, 2) + bytes(2),
        struct.pack(">II", 1, frames.MAX_FRAME + 1),
        opening(b"no zlib"),
        opening(packed(struct.pack(">II", 1, 1000) + b"short")),
        opening(packed(struct.pack(">I", 10_000_000))),
        opening(packed(bytes(10 * frames.MAX_HEADERS))),
    ],
    ids=["HTTP", "another version", "a ping cut off", "a long frame", "no zlib", "a long name", "too many pairs", "a bomb"],
)
def test_what_is_no_spdy_is_an_error(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        list(Decoder().feed(data))


class Peer:
    """The client's side of a connection, by frames."""

    def __init__(self) -> None:
        self.streams: list[Stream] = []
        self.said = bytearray()
        self.encoder = Encoder()
        self.connection = Connection(self._send, self._opened)

    async def _send(self, data: bytes) -> None:
        self.said += data

    def _opened(self, stream: Stream) -> bool:
        self.streams.append(stream)
        return stream.headers.get("streamtype") != "unwanted"

    async def open(self, number: int, kind: str = "data") -> Stream:
        await self.connection.feed(self.encoder.opened(number, {"Streamtype": kind}))
        return self.streams[-1]

    def heard(self) -> list[frames.Frame]:
        found = list(Decoder().feed(bytes(self.said)))
        self.said.clear()
        return found


async def test_a_stream_has_two_ends() -> None:
    peer = Peer()
    stream = await peer.open(1)
    await peer.connection.feed(Encoder.data(1, b"to you"))
    await peer.connection.feed(Encoder.data(1, b"", fin=True))
    assert [await stream.read(), await stream.read(), await stream.read()] == [b"to you", b"", b""]
    assert [type(each) for each in peer.heard()] == [frames.Ended]  # the stream was taken
    await stream.write(b"to me")
    await stream.close()
    await stream.close()
    await stream.write(b"too late")
    assert peer.heard() == [Data(1, b"to me"), Data(1, b"", fin=True)]
    await peer.connection.feed(Encoder.data(1, b"of a stream that is over"))


async def test_a_reset_ends_both_sides() -> None:
    peer = Peer()
    stream = await peer.open(1)
    await peer.connection.feed(Encoder.data(1, b"unread") + Encoder.reset(1, frames.CANCEL))
    assert await stream.read() == b""
    peer.said.clear()
    await stream.write(b"x")
    await stream.close()
    assert not peer.said


async def test_unwanted_and_too_many_streams_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("setpoint.node.server.spdy.connection.MAX_STREAMS", 2)
    peer = Peer()
    await peer.open(1, "unwanted")
    assert peer.heard() == [Reset(1)]
    for number in (3, 5, 7):
        await peer.open(number)
    assert [each for each in peer.heard() if isinstance(each, Reset)] == [Reset(7)]


@pytest.mark.parametrize("number", [1, 2, 4])
async def test_numbers_of_streams_are_odd_and_rise(number: int) -> None:
    peer = Peer()
    await peer.open(3)
    with pytest.raises(ProtocolError):
        await peer.open(number)


async def test_pings_come_back_and_answers_do_not() -> None:
    peer = Peer()
    await peer.connection.feed(Encoder.ping(1) + Encoder.ping(2))
    assert peer.heard() == [Ping(1)]


async def test_who_does_not_read_holds_the_connection_and_nothing_grows() -> None:
    peer = Peer()
    stream = await peer.open(1)
    feeding = asyncio.ensure_future(peer.connection.feed(Encoder.data(1, b"x") * 100))
    await asyncio.sleep(0)
    assert not feeding.done()
    read = b"".join([await stream.read() for _ in range(100)])
    assert read == b"x" * 100
    await feeding
    peer.connection.end()
    assert await stream.read() == b""
