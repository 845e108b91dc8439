"""Requests in somebody else's name."""

from __future__ import annotations

from setpoint.client.transport import Request, Response, Stream
from setpoint.client.transports.acting import ActingTransport


class Witness:
    def __init__(self) -> None:
        self.seen: list[Request] = []

    async def call(self, request: Request) -> Response:
        self.seen.append(request)
        return Response(200, {}, b"")

    async def stream(self, request: Request) -> Stream:
        self.seen.append(request)
        raise NotImplementedError

    async def close(self) -> None:
        raise AssertionError("the connections are another's")


async def test_every_request_says_whose_it_is() -> None:
    witness = Witness()
    asked = Request("GET", "/a", headers={"Accept": "x", "Impersonate-User": "admin"})
    acting = ActingTransport(witness, "system:node:n1", "system:nodes")
    await acting.call(asked)
    await acting.close()
    assert witness.seen[0].headers == {"Accept": "x", "Impersonate-User": "system:node:n1", "Impersonate-Group": "system:nodes"}
    assert asked.headers["Impersonate-User"] == "admin"
