"""Requests straight into the API server's pipeline of this process: same identity, authorisation and admission, no socket.

The client stands below the API server and does not know its classes; the composition root hands in the pipeline and the class of
its requests. Nothing here waits for anything but the pipeline, so virtual time holds.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol, Self

from setpoint.api.machinery.user import UserInfo
from setpoint.client.transport import Request, Response, Stream, TransportError


class PipelineResponse(Protocol):
    """What a pipeline answers: `body` at once, or `stream` piece by piece."""

    status: int
    headers: Mapping[str, str]
    body: bytes | None
    stream: AsyncIterator[bytes] | None
    warnings: Sequence[str]

    async def gather(self) -> None:
        """Make `body` where it would only be made while it is sent."""


class Pipeline(Protocol):
    """The API server behind its carriers."""

    def handle(self, request: Any) -> Coroutine[Any, Any, Any]: ...


class InProcessTransport:
    """Calls `pipeline` as `user`. `make_request` is the class of its requests (method, path, query, headers, body, user)."""

    def __init__(self, pipeline: Pipeline, make_request: Callable[..., Any], user: UserInfo) -> None:
        self._pipeline = pipeline
        self._make_request = make_request
        self._user = user
        self._closed = False
        self._sent: Mapping[str, str] = {}
        self._lowered: Mapping[str, str] = {}

    async def call(self, request: Request) -> Response:
        answer = await self._answer(request)
        if answer.body is None:
            await answer.gather()
        body = answer.body if answer.body is not None else b""
        if answer.stream is not None:
            body = b"".join([piece async for piece in answer.stream])
        return Response(answer.status, answer.headers, body)

    async def stream(self, request: Request) -> Stream:
        answer = await self._answer(request)
        await answer.gather()
        return _Stream(answer)

    async def close(self) -> None:
        """Refuse further calls; those under way go on."""
        self._closed = True

    def _answer(self, request: Request) -> Coroutine[Any, Any, PipelineResponse]:
        """What the pipeline answers, to be awaited at once."""
        if self._closed:
            raise TransportError("the transport is closed")
        asked = self._make_request(
            method=request.method,
            path=request.path,
            query={name: [value] for name, value in request.query.items()},
            headers=self._lower_case(request.headers),
            body=request.body,
            user=self._user,
        )
        return self._pipeline.handle(asked)

    def _lower_case(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        """Headers as the pipeline has them. A client sends the same few again and again: those are not made anew."""
        if self._sent is not headers:
            self._sent, self._lowered = headers, {name.lower(): value for name, value in headers.items()}
        return self._lowered


class _Stream:
    def __init__(self, answer: PipelineResponse) -> None:
        self.status = answer.status
        self.headers = answer.headers
        self._body = answer.body
        self._stream = answer.stream

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        if (close := getattr(self._stream, "aclose", None)) is not None:
            await close()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self._stream) if self._stream is not None else self._whole()

    async def _whole(self) -> AsyncIterator[bytes]:
        if self._body is not None:
            yield self._body

    async def read(self) -> bytes:
        return b"".join([piece async for piece in self])
