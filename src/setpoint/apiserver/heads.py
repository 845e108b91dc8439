"""HTTP/1.1 request heads, read fast and strictly, and the heads of answers.

Only the plain form is read here: a method (unknown words too, which are refused by whoever is asked), HTTP/1.1, well-formed
headers, a body of declared length. Everything else — chunked bodies, upgrades, `Expect`, HTTP/1.0, whatever is malformed — is
`None`, and aiohttp, which knows all of it, takes over.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from urllib.parse import parse_qs

from msgspec import Struct

_METHODS = {method.encode(): method for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")}
_OTHER_METHOD = re.compile(rb"[A-Z]{1,32}")
_NOT_OURS = (b"CONNECT", b"TRACE", b"PRI")
_NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_BAD_VALUE = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_JUDGED = 8192  # bytes of a first line that are looked at before its head is whole
#: headers whose meaning is left to aiohttp
_SPECIAL = frozenset({"transfer-encoding", "upgrade", "expect"})
#: prefixes of headers of which every value counts, in Request joined by line breaks, which no value holds
REPEATED = ("impersonate-", "x-remote-")
#: headers whose values are one list however many lines they take
_LISTS = frozenset(("connection", "x-forwarded-for", "sec-websocket-protocol", "accept-encoding", "x-stream-protocol-version"))
#: ASCII, the path's escapes sound; those of the query may be spoilt
_TARGET = re.compile(rb"/(?:[\x21-\x24\x26-\x3e\x40-\x7e]|%[0-9A-Fa-f]{2})*(?:\?[\x21-\x7e]*)?")
_spoilt = re.compile(r"%(?![0-9A-Fa-f]{2})|;").search
_names: dict[bytes, str] = {}
_MAX_NAMES, _LONGEST_NAME = 500, 64
_MAX_LINES = 2_000  # headers; aiohttp, which refuses fewer, answers


class Head(Struct):
    """The head of a request. `length` is that of its body, `keep` whether the connection goes on after the answer."""

    method: str
    target: str
    headers: dict[str, str]
    length: int
    keep: bool


def parameters(query: str) -> dict[str, list[str]]:
    """The parameters of a query; without those that Go's `url.ParseQuery` leaves out, for a bad escape or a semicolon."""
    if _spoilt(query):
        query = "&".join(pair for pair in query.split("&") if not _spoilt(pair))
    return parse_qs(query, keep_blank_values=True)


def parse(data: bytes) -> Head | None:
    """The head in `data` (without its empty line); None when it is not of the plain form."""
    if data.count(b"\r\n") > _MAX_LINES:
        return None
    first, *lines = data.split(b"\r\n")
    words = first.split(b" ")
    if len(words) != 3 or words[2] != b"HTTP/1.1" or _TARGET.fullmatch(words[1]) is None:
        return None
    method, headers = _METHODS.get(words[0]) or _other_method(words[0]), _headers(lines)
    if not method or headers is None or "host" not in headers or not _SPECIAL.isdisjoint(headers):
        return None
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()):
        return None
    return Head(method, words[1].decode("ascii"), headers, int(length), headers.get("connection", "").lower() != "close")


def may_begin(data: bytearray) -> bool:
    """Whether `data`, which holds no whole head, may yet become one of the plain form: judged by its first line."""
    end = data.find(b"\r\n", 0, _JUDGED)
    line = bytes(data[:end] if end >= 0 else data[:_JUDGED])
    words = line.split(b" ", 1)
    if len(words) == 1:
        return end < 0 and any(method.startswith(line) for method in _METHODS)
    return words[0] in _METHODS and b"\n" not in line and (end < 0 or line.endswith(b" HTTP/1.1"))


def _other_method(word: bytes) -> str:
    """A method of one's own; empty when it is none, or one that aiohttp answers."""
    return word.decode("ascii") if _OTHER_METHOD.fullmatch(word) is not None and word not in _NOT_OURS else ""


def _headers(lines: Iterable[bytes]) -> dict[str, str] | None:
    headers: dict[str, str] = {}
    for line in lines:
        raw, colon, value = line.partition(b":")
        name = _names.get(raw) or _name(raw)
        if not colon or not name or _BAD_VALUE.search(value) is not None:
            return None
        if name in headers and name in ("content-length", "host"):
            return None
        text = value.strip(b" \t").decode("utf-8", "surrogateescape")
        headers[name] = text if name not in headers else again(name, headers[name], text)
    return headers


def again(name: str, held: str, text: str) -> str:
    """What a header says that is there already: as Go's `Header.Get` reads it, the first of two credentials, say, counts."""
    if name.startswith(REPEATED):
        return f"{held}\n{text}"
    return f"{held}, {text}" if name in _LISTS else held


def readable(value: str) -> str:
    """A header's value as a text that can be written: bytes that are no UTF-8 are replaced, as Go does in its JSON."""
    return value if value.isascii() else value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _name(raw: bytes) -> str:
    """A header's name in lower case; empty when it is none. Names are few and are remembered."""
    if _NAME.fullmatch(raw) is None:
        return ""
    name = raw.decode("ascii").lower()
    if len(_names) < _MAX_NAMES and len(raw) <= _LONGEST_NAME:
        _names[raw] = name
    return name


def answer(
    status: int, headers: Iterable[tuple[str, str]], length: int | None, *, identity: str = "", keep: bool = True
) -> bytes:
    """The head of an answer to the request of this `identity`.

    With `length` None its body is chunked, below zero the headers tell its length.
    """
    size = b"Transfer-Encoding: chunked\r\n" if length is None else b"Content-Length: %d\r\n" % length
    if status in (204, 304) or (length is not None and length < 0):
        size = b""
    close = b"" if keep else b"Connection: close\r\n"
    own = b"Audit-Id: %b\r\n" % identity.encode("utf-8", "surrogateescape") if identity else b""
    return b"%b%b%b%bDate: %b\r\n\r\n" % (_fixed(status, tuple(headers)), own, size, close, _date(int(time.time())))


@lru_cache(maxsize=512)
def _fixed(status: int, headers: tuple[tuple[str, str], ...]) -> bytes:
    """What an answer's head begins with: the same for most answers."""
    phrase = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else ""
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {_one_line(value)}" for name, value in headers)]
    if all(name.lower() != "cache-control" for name, _ in headers):
        lines.append("Cache-Control: no-cache, private")
    return "\r\n".join([*lines, ""]).encode("utf-8", "surrogateescape")


def _one_line(value: str) -> str:
    """A header's value cannot end its line: whatever it was made from."""
    return value.replace("\r", " ").replace("\n", " ").replace("\0", " ")


@lru_cache(maxsize=2)
def _date(second: int) -> bytes:
    return formatdate(second, usegmt=True).encode()
