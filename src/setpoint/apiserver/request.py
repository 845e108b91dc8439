"""One request and its answer, whatever carried them: the HTTP adapter and the in-process transport both speak this."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import Any

import orjson
from msgspec import Struct, field

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import ANONYMOUS, UserInfo

JSON = "application/json"
#: characters of all warnings of an answer, and of one where they are more
_ALL_WARNINGS, _ONE_WARNING = 4096, 256


class Request(Struct):
    """A request after authentication. `query` has every value of every parameter, `headers` have lower-case names.

    Headers that may be repeated and say who asks (`heads.REPEATED`) hold all their values, one a line; of others the first.
    `carrier` is what the carrier adds for handlers that take over the connection (exec, attach): the HTTP adapter's own request.
    `impersonated` is set where somebody acts as `user` (`impersonation.Impersonated`: who, and by which right).
    """

    method: str
    path: str
    query: Mapping[str, Sequence[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    user: UserInfo = ANONYMOUS
    carrier: Any = None
    impersonated: Any = None
    #: what admission adds to the audit log
    annotations: dict[str, str] = field(default_factory=dict)
    #: the path and query as the client sent them, and its address; empty for a request of this process
    target: str = ""
    peer: str = ""
    #: what its answer and the audit log call it; empty for a request of this process
    identity: str = ""

    def parameter(self, name: str, default: str = "") -> str:
        """The first value of a query parameter."""
        values = self.query.get(name)
        return values[0] if values else default

    def header(self, name: str, default: str = "") -> str:
        return self.headers.get(name, default)


class Response(Struct):
    """An answer: `body` at once, or `stream` piece by piece (each piece is complete lines; close it when the client goes).

    `pieces` are those of a long body which is made while it is sent: as a whole it would be as large as all that it lists.
    `headers` have no Warning: every text of `warnings` becomes a header `Warning: 299 - "<text>"` of its own.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes | None = None
    stream: AsyncIterator[bytes] | None = None
    pieces: AsyncGenerator[bytes] | None = None
    warnings: Sequence[str] = ()
    #: the priority level by which flow control let the request in or refused it; empty where it did not look
    level: str = ""
    #: further headers of names that `headers` has already (Set-Cookie)
    more_headers: Sequence[tuple[str, str]] = ()

    async def gather(self) -> None:
        """Make `body` of `pieces`, for who needs it as a whole."""
        if self.pieces is not None:
            pieces, self.pieces = self.pieces, None
            self.body = b"".join([piece async for piece in pieces])

    def all_headers(self) -> list[tuple[str, str]]:
        """Every header, and one Warning header per warning, as they go on the wire."""
        warned = (("Warning", warning_header(text)) for text in limited(self.warnings))
        return [*self.headers.items(), *self.more_headers, *warned]


def limited(warnings: Sequence[str]) -> Sequence[str]:
    """Each warning once; where all of them are too long, the beginning of each, and at last none.

    Source: apiserver `endpoints/filters/warning.go`.
    """
    once = list(dict.fromkeys(text for text in warnings if text))
    if sum(map(len, once)) <= _ALL_WARNINGS:
        return once
    kept, length = list[str](), 0
    for text in once:
        if length >= _ALL_WARNINGS:
            break
        kept.append(text[:_ONE_WARNING])
        length += len(kept[-1])
    return kept


def warning_header(text: str) -> str:
    """RFC 7234's warning value with code 299 (miscellaneous persistent warning) and no agent, as Kubernetes sends it."""
    cleaned = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'299 - "{cleaned}"'


JSON_HEADERS: Mapping[str, str] = {"Content-Type": JSON}


def json_response(value: Any, status: int = 200, warnings: Sequence[str] = ()) -> Response:
    """`value` as JSON."""
    return Response(status, JSON_HEADERS, orjson.dumps(value), warnings=warnings)


def text_response(text: str, status: int = 200) -> Response:
    return Response(status, {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"}, text.encode())


def error_response(error: StatusError) -> Response:
    """A refusal as its Status object, with Retry-After where the error asks to come back."""
    headers = dict(JSON_HEADERS)
    if error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    return Response(error.code, headers, orjson.dumps(error.status()))
