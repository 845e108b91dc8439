"""A transport whose requests are made as somebody else (`Impersonate-User`): many identities over the connections of one.

Whose transport it is must have the right to that. Source: client-go `transport/round_trippers.go` (ImpersonationConfig).
"""

from __future__ import annotations

from msgspec.structs import replace

from setpoint.client.transport import Request, Response, Stream, Transport


class ActingTransport:
    """Acts as `user`, a member of `group`. `close` leaves the connections to their owner."""

    def __init__(self, inner: Transport, user: str, group: str) -> None:
        self._inner = inner
        self._headers = {"Impersonate-User": user, "Impersonate-Group": group}

    async def call(self, request: Request) -> Response:
        return await self._inner.call(self._acting(request))

    async def stream(self, request: Request) -> Stream:
        return await self._inner.stream(self._acting(request))

    async def close(self) -> None:
        """Nothing is held."""

    def _acting(self, request: Request) -> Request:
        return replace(request, headers={**request.headers, **self._headers})
