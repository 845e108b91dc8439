from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs

import orjson
import pytest

from setpoint.api.machinery.schema import trees
from setpoint.api.machinery.user import ADMIN
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.request import Request, Response
from setpoint.kit.clock import VirtualClock
from setpoint.registry.table import RESOURCES
from setpoint.storage.backends.memory import memory_store
from setpoint.storage.protocol import Store


class Api:
    """A pipeline and a short way to talk to it."""

    def __init__(self, pipeline: Pipeline, clock: VirtualClock, store: Store) -> None:
        self.pipeline = pipeline
        self.clock = clock
        self.store = store

    async def respond(self, line: str, body: Any = None, **headers: str) -> Response:
        method, url = line.split(" ", 1)
        path, _, query = url.partition("?")
        return await self.pipeline.handle(
            Request(
                method=method,
                path=path,
                query=parse_qs(query, keep_blank_values=True),
                headers={"user-agent": "test/1"} | {name.replace("_", "-"): value for name, value in headers.items()},
                body=body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body),
                user=ADMIN,
            )
        )

    async def __call__(self, line: str, body: Any = None, *, code: int = 0, **headers: str) -> Any:
        response = await self.respond(line, body, **headers)
        value = orjson.loads(response.body or b"null")
        if code:
            assert response.status == code, value
        else:
            assert response.status < 400, value
        return value

    async def merge(self, path: str, patch: Any, *, code: int = 0) -> Any:
        return await self(f"PATCH {path}", patch, code=code, content_type="application/merge-patch+json")


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    clock = VirtualClock()
    store = memory_store(clock)
    await store.open()
    yield Api(Pipeline(RESOURCES, store, clock, schemas=trees.load()), clock, store)
    await store.close()
