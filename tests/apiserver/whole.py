"""A server with all that it has when it runs, in real time, except for its listening."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs

import orjson

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.request import Request, Response
from setpoint.app import bootstrap
from setpoint.app.assembly import make_pipeline
from setpoint.client.client import Client
from setpoint.client.transports.in_process import InProcessTransport
from setpoint.kit.clock import RealClock
from setpoint.kit.tasks import Tasks
from setpoint.storage.backends.memory import memory_store

ADMIN = UserInfo("admin", groups=("system:masters", "system:authenticated"))


@asynccontextmanager
async def whole_server(**more: Any) -> AsyncIterator[Pipeline]:
    """Its pipeline, made with `more`, while in the block."""
    clock = RealClock()
    store = memory_store(clock)
    await store.open()
    pipeline = make_pipeline(store, clock, address=lambda: "127.0.0.1:6443", **more)
    client = Client(InProcessTransport(pipeline, Request, ADMIN), user_agent="test", clock=clock)
    await bootstrap.ensure(client, service_address="10.96.0.1", port=6443)
    async with Tasks("test") as tasks:
        for follower in pipeline.followers:
            await follower.load()
            tasks.start("follower", follower.run())
        yield pipeline
        tasks.stop()
    await pipeline.close()
    await store.close()


class Requests:
    """Requests to a pipeline; the last one and its answer are kept."""

    request: Request
    response: Response

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline

    async def respond(self, line: str, body: Any = None, kind: str = "application/json", user: UserInfo = ADMIN) -> Response:
        """The answer to `METHOD /path?query`."""
        method, url = line.split(" ", 1)
        path, _, query = url.partition("?")
        content = body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body)
        headers = {"content-type": kind, "user-agent": "test/1"}
        self.request = Request(method, path, parse_qs(query, keep_blank_values=True), headers, content, user)
        self.response = await self.pipeline.handle(self.request)
        return self.response

    async def __call__(
        self, line: str, body: Any = None, *, code: int = 0, kind: str = "application/json", user: UserInfo = ADMIN
    ) -> Any:
        """The answer's object; `code` is what it must have, any success where none is given."""
        response = await self.respond(line, body, kind, user)
        value = orjson.loads(response.body or b"null")
        assert response.status == code if code else response.status < 400, value
        return value

    async def settle(self) -> None:
        """Until what was written is in force."""
        for _ in range(20):
            await asyncio.sleep(0)

    async def make(self, name: str = "a", query: str = "", code: int = 0, *, user: UserInfo = ADMIN, **more: Any) -> Any:
        """Create a config map."""
        body = {"metadata": {"name": name, **more.pop("metadata", {})}, **more}
        return await self(f"POST /api/v1/namespaces/default/configmaps{query}", body, code=code, user=user)
