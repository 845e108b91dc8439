"""How a client's requests reach an API server: over HTTP or straight into the pipeline of this process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Protocol, Self

from msgspec import Struct, field


class Request(Struct):
    """One call. `query` values are already strings; `body` is encoded."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


class Response(Struct):
    """A complete answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Stream(Protocol):
    """An answer that goes on: `async with` it, iterate chunks of bytes (complete lines for watches, whatever comes for logs)."""

    status: int
    headers: Mapping[str, str]

    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *error: object) -> None: ...
    def __aiter__(self) -> AsyncIterator[bytes]: ...
    async def read(self) -> bytes:
        """All the rest (for the body of a refusal)."""


class TransportError(OSError):
    """The server could not be reached, or broke off: nothing is known of the call's outcome."""


class Transport(Protocol):
    """Sends requests; raises TransportError. Cancelling a call leaves its outcome unknown."""

    async def call(self, request: Request) -> Response: ...
    async def stream(self, request: Request) -> Stream: ...
    async def close(self) -> None: ...
