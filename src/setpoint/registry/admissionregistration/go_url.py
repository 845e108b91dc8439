"""URLs as Go reads them, and in its words what is wrong with one. Source: Go's `net/url`."""

from __future__ import annotations

import re
from urllib.parse import unquote

from msgspec import Struct

from setpoint.api.machinery.status import go_value

_scheme = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:").match
_port = re.compile(r"(:[0-9]*)?").fullmatch
_userinfo = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*").fullmatch
_strange = re.compile(r"[ \"<>\\^`{|}]").search  # what no host name has
_bad_escape = re.compile(r"%(?![0-9a-fA-F]{2}).{0,2}", re.DOTALL).search


class Malformed(Exception):
    """No URL; says why."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(f"parse {go_value(url)}: {why}")


class GoURL(Struct, frozen=True):
    """The parts that rules look at. `user` is None where none is given, though it were empty."""

    scheme: str = ""
    user: str | None = None
    host: str = ""
    query: str = ""
    fragment: str = ""


def parse(text: str) -> GoURL:
    """The parts of a URL; raises Malformed."""
    try:
        return _parts(text)
    except ValueError as error:
        raise Malformed(text.partition("#")[0], str(error)) from None


def _parts(text: str) -> GoURL:
    url, _, fragment = text.partition("#")
    if any(letter < " " or letter == "\x7f" for letter in url):
        raise ValueError("net/url: invalid control character in URL")
    if url.startswith(":"):
        raise ValueError("missing protocol scheme")
    found = _scheme(url)
    scheme = found[0][:-1].lower() if found else ""
    rest, _, query = (url[found.end() :] if found else url).partition("?")
    if not rest.startswith("/"):
        if not scheme and ":" in rest.partition("/")[0]:
            raise ValueError("first path segment in URL cannot contain colon")
        if not scheme:
            _check_escapes(rest)
        return GoURL(scheme=scheme, query=query, fragment=fragment)
    user, host = None, ""
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        user, host = _authority(authority)
    _check_escapes(rest)
    _check_escapes(fragment)
    return GoURL(scheme, user, host, query, unquote(fragment))


def _authority(authority: str) -> tuple[str | None, str]:
    info, at, host = authority.rpartition("@")
    if at and not _userinfo(info):
        raise ValueError("net/url: invalid userinfo")
    _check_host(host)
    return (info if at else None), unquote(host)


def _check_host(host: str) -> None:
    if host.startswith("["):
        _, closed, port = host.rpartition("]")
        if not closed:
            raise ValueError("missing ']' in host")
    else:
        _, colon, after = host.partition(":")
        port = colon + after
    if not _port(port):
        raise ValueError(f"invalid port {go_value(port)} after host")
    _check_escapes(host)
    if found := _strange(host):
        raise ValueError(f"invalid character {go_value(found[0])} in host name")


def _check_escapes(text: str) -> None:
    if found := _bad_escape(text):
        raise ValueError(f"invalid URL escape {go_value(found[0])}")
