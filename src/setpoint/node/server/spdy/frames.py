"""Frames of SPDY/3.1: bytes to records and back.

A frame is a head of eight bytes and its body. A data frame's head is the stream's number (its first bit 0), flags, and the body's
length; a control frame's is the version (the first bit 1), a type, flags, and the length. Headers are a count of pairs, and each
name and value with its length before it, all of it compressed; each direction has one compressor for its whole life.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping

from msgspec import Struct

VERSION = 3
FIN = 0x01
SYN_STREAM, SYN_REPLY, RST_STREAM, SETTINGS, PING, GOAWAY, HEADERS, WINDOW_UPDATE = 1, 2, 3, 4, 6, 7, 8, 9
#: codes of RST_STREAM
STREAM_ERROR, REFUSED_STREAM, CANCEL = 1, 3, 5

MAX_FRAME = 256 * 1024
"""Bytes of a body; clients write what they read from a connection, 32 KiB at a time."""
MAX_HEADERS = 64 * 1024
"""Bytes of headers once they are unpacked."""
_CONTROL = 0x80000000
_NUMBER = 0x7FFFFFFF
_HEAD = 8

_COMMON = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow "
    "authorization cache-control connection content-base content-encoding content-language content-length content-location "
    "content-md5 content-range content-type date etag expect expires from host if-match if-modified-since if-none-match if-range "
    "if-unmodified-since last-modified location max-forwards pragma proxy-authenticate proxy-authorization range referer "
    "retry-after server te trailer transfer-encoding upgrade user-agent vary via warning www-authenticate method get status "
    "200_OK version HTTP/1.1 url public set-cookie keep-alive origin"
)
_REST = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative "
    "Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 Internal Server "
    "Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, "
    "Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,"
    "text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)


def _sized(text: bytes) -> bytes:
    return struct.pack(">I", len(text)) + text


#: what both compressors know from the start (section 2.6.10.1 of the protocol)
DICTIONARY = b"".join(_sized(word.replace("_", " ").encode()) for word in _COMMON.split()) + _REST.encode()


class ProtocolError(ValueError):
    """What came is not SPDY/3.1, or beyond a bound: the connection is of no more use."""


class Opened(Struct, frozen=True):
    """SYN_STREAM: the client begins a stream. Names are in lower case."""

    stream: int
    headers: Mapping[str, str]
    fin: bool = False


class Data(Struct, frozen=True):
    """Bytes of a stream; with `fin` the last ones."""

    stream: int
    data: bytes
    fin: bool = False


class Ended(Struct, frozen=True):
    """SYN_REPLY or HEADERS of which only the end matters."""

    stream: int
    fin: bool


class Reset(Struct, frozen=True):
    """RST_STREAM: nothing more of this stream, either way."""

    stream: int


class Ping(Struct, frozen=True):
    """To be sent back as it came."""

    number: int


class GoAway(Struct, frozen=True):
    """The other side begins no more streams."""


Frame = Opened | Data | Ended | Reset | Ping | GoAway


class Decoder:
    """The frames in bytes that come in pieces of any size."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._unpack = zlib.decompressobj(zdict=DICTIONARY)

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that are whole now; raises ProtocolError."""
        self._buffer += data
        while len(self._buffer) >= _HEAD:
            first, second = struct.unpack_from(">II", self._buffer)
            flags, length = second >> 24, second & 0xFFFFFF
            if length > MAX_FRAME:
                raise ProtocolError(f"a frame of {length} bytes")
            if len(self._buffer) < _HEAD + length:
                return
            body = bytes(self._buffer[_HEAD : _HEAD + length])
            del self._buffer[: _HEAD + length]
            if first & _CONTROL:
                yield from self._control(first & _NUMBER, flags, body)
            else:
                yield Data(first, body, bool(flags & FIN))

    def _control(self, head: int, flags: int, body: bytes) -> Iterator[Frame]:
        version, kind = head >> 16, head & 0xFFFF
        if version != VERSION:
            raise ProtocolError(f"version {version}")
        if kind in (SYN_STREAM, SYN_REPLY, HEADERS):  # all are unpacked, since the next ones build on them
            headers = self._headers(body[10 if kind == SYN_STREAM else 4 :])
            fin = bool(flags & FIN)
            yield Opened(_first(body), headers, fin) if kind == SYN_STREAM else Ended(_first(body), fin)
        elif kind == RST_STREAM:
            yield Reset(_first(body))
        elif kind == PING:
            yield Ping(_whole(body))
        elif kind == GOAWAY:
            yield GoAway()

    def _headers(self, packed: bytes) -> dict[str, str]:
        try:
            text = self._unpack.decompress(packed, MAX_HEADERS + 1)
            if len(text) > MAX_HEADERS:
                raise ProtocolError("too many headers")
            return dict(_pairs(text))
        except (zlib.error, struct.error) as error:
            raise ProtocolError(f"headers: {error}") from error


def _pairs(text: bytes) -> Iterator[tuple[str, str]]:
    (count,) = struct.unpack_from(">I", text)
    place = 4

    def word() -> str:
        nonlocal place
        (length,) = struct.unpack_from(">I", text, place)
        place += 4 + length
        if place > len(text):
            raise ProtocolError("headers that are cut off")
        return text[place - length : place].decode("utf-8", "replace")

    for _ in range(count):
        name = word()
        yield name.lower(), word()


def _first(body: bytes) -> int:
    return _whole(body) & _NUMBER


def _whole(body: bytes) -> int:
    if len(body) < 4:
        raise ProtocolError("a frame that is cut off")
    return int.from_bytes(body[:4], "big")


class Encoder:
    """The bytes of frames that go out."""

    def __init__(self) -> None:
        self._pack = zlib.compressobj(zdict=DICTIONARY)

    def opened(self, stream: int, headers: Mapping[str, str]) -> bytes:
        return _control(SYN_STREAM, 0, struct.pack(">IIH", stream, 0, 0) + self._headers(headers))

    def reply(self, stream: int) -> bytes:
        """The stream is taken."""
        return _control(SYN_REPLY, 0, struct.pack(">I", stream) + self._headers({}))

    def _headers(self, headers: Mapping[str, str]) -> bytes:
        text = struct.pack(">I", len(headers)) + b"".join(_sized(part.encode()) for pair in headers.items() for part in pair)
        return self._pack.compress(text) + self._pack.flush(zlib.Z_SYNC_FLUSH)

    @staticmethod
    def data(stream: int, data: bytes, *, fin: bool = False) -> bytes:
        return struct.pack(">II", stream, (FIN if fin else 0) << 24 | len(data)) + data

    @staticmethod
    def reset(stream: int, code: int) -> bytes:
        return _control(RST_STREAM, 0, struct.pack(">II", stream, code))

    @staticmethod
    def ping(number: int) -> bytes:
        return _control(PING, 0, struct.pack(">I", number))


def _control(kind: int, flags: int, body: bytes) -> bytes:
    return struct.pack(">II", _CONTROL | VERSION << 16 | kind, flags << 24 | len(body)) + body
