"""A server to define kinds at."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import orjson
import pytest
from tests.apiserver.custom_resources.widgets import USER, Server

from setpoint.apiserver.request import Request
from setpoint.testing.cluster import VirtualCluster

Ask = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
async def cluster() -> AsyncIterator[VirtualCluster]:
    async with VirtualCluster(0, parts=()) as made:
        yield made


@pytest.fixture
def ask(cluster: VirtualCluster) -> Ask:
    """Ask with a method, a path and perhaps a body; then let the server follow what changed."""

    async def send(
        method: str, path: str, body: Any = None, query: dict[str, list[str]] | None = None, **headers: str
    ) -> dict[str, Any]:
        content = b"" if body is None else orjson.dumps(body)
        sent = {"content-type": "application/json", **headers}
        response = await cluster._server.pipeline.handle(Request(method, path, query or {}, sent, content, USER))
        await cluster.clock.advance(1)
        try:
            found: dict[str, Any] = orjson.loads(response.body or b"null")
        except orjson.JSONDecodeError:
            found = {"code": response.status}
        return found

    return send


@pytest.fixture
async def server(cluster: VirtualCluster) -> Server:
    return Server(cluster)
