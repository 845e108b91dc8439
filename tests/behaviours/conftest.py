from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any, Protocol
from urllib.parse import parse_qs

import orjson
import pytest

from setpoint.api.machinery.user import ADMIN
from setpoint.apiserver.request import Request, Response
from setpoint.app import bootstrap
from setpoint.app.assembly import make_pipeline
from setpoint.client.client import Client
from setpoint.client.transports.in_process import InProcessTransport
from setpoint.kit.clock import VirtualClock
from setpoint.storage.backends.memory import memory_store
from setpoint.storage.protocol import Store
from setpoint.testing.cluster import VirtualCluster

STRATEGIC = "application/strategic-merge-patch+json"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"


class Handler(Protocol):
    async def handle(self, request: Request) -> Response: ...


class Watching:
    """A watch, read event by event."""

    def __init__(self, response: Response) -> None:
        self.response = response
        assert response.stream is not None, response.body
        self.stream: AsyncGenerator[bytes, None] = response.stream  # type: ignore[assignment]  # a watch's is one
        self._events: list[Any] = []

    async def next(self) -> Any:
        while not self._events:
            piece = await asyncio.wait_for(anext(self.stream), 5)
            self._events = [orjson.loads(line) for line in piece.splitlines()]
        return self._events.pop(0)

    async def take(self, count: int) -> list[tuple[str, str]]:
        events = [await self.next() for _ in range(count)]
        return [(event["type"], event["object"]["metadata"]["name"]) for event in events]

    async def rest(self) -> list[Any]:
        """All events until the server ends the stream."""
        return self._events + [orjson.loads(line) async for piece in self.stream for line in piece.splitlines()]

    async def close(self) -> None:
        await self.stream.aclose()


class Api:
    """Raw requests as the administrator: `await api("POST /api/v1/…", body)`."""

    def __init__(self, handler: Handler, clock: VirtualClock, store: Store) -> None:
        self.handler = handler
        self.clock = clock
        self.store = store
        self._watches: list[Watching] = []

    async def respond(self, line: str, body: Any = None, content_type: str = "application/json", **headers: str) -> Response:
        method, url = line.split(" ", 1)
        path, _, query = url.partition("?")
        return await self.handler.handle(
            Request(
                method=method,
                path=path,
                query=parse_qs(query, keep_blank_values=True),
                headers={"user-agent": "test/1", "content-type": content_type, **headers},
                body=body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body),
                user=ADMIN,
            )
        )

    async def __call__(self, line: str, body: Any = None, *, code: int = 0, content_type: str = "application/json") -> Any:
        response = await self.respond(line, body, content_type)
        value = orjson.loads(response.body or b"null")
        if code:
            assert response.status == code, value
        else:
            assert response.status < 400, value
        return value

    async def merge(self, path: str, patch: Any, *, code: int = 0) -> Any:
        return await self(f"PATCH {path}", patch, code=code, content_type=MERGE)

    async def make(self, path: str, name: str, *, metadata: dict[str, Any] | None = None, **fields: Any) -> Any:
        return await self(f"POST {path}", {"metadata": {"name": name, **(metadata or {})}, **fields})

    async def watch(self, url: str) -> Watching:
        response = await self.respond(f"GET {url}")
        assert response.status == 200, response.body
        self._watches.append(Watching(response))
        return self._watches[-1]

    async def version(self, path: str) -> str:
        """The version of the whole collection: it grows with every write."""
        held: str = (await self(f"GET {path}"))["metadata"]["resourceVersion"]
        return held

    async def close(self) -> None:
        for watching in self._watches:
            await watching.close()


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    """The pipeline of a real server over a memory store, with a namespace `ns1` that pods can be made in."""
    clock = VirtualClock()
    store = memory_store(clock)
    await store.open()
    pipeline = make_pipeline(store, clock, address=lambda: "127.0.0.1:6443")
    await bootstrap.ensure(
        Client(InProcessTransport(pipeline, Request, ADMIN), user_agent="test", clock=clock),
        service_address="10.96.0.1",
        port=6443,
    )
    made = Api(pipeline, clock, store)
    await made.make("/api/v1/namespaces", "ns1")
    await made.make("/api/v1/namespaces/ns1/serviceaccounts", "default")
    yield made
    await made.close()
    await store.close()


@pytest.fixture
def api_of() -> Callable[[VirtualCluster], Api]:
    """Raw requests to a cluster on virtual time."""
    return lambda cluster: Api(cluster._server, cluster.clock, cluster.store)


Check = Callable[[], Awaitable[bool]]
