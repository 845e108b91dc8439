"""A world for controllers: the real API server's pipeline over the memory store, in process, on virtual time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import ADMIN
from setpoint.apiserver.request import Request
from setpoint.app.assembly import make_pipeline
from setpoint.client.client import Client
from setpoint.client.transports.in_process import InProcessTransport
from setpoint.controllers.component import Settings
from setpoint.controllers.manager import ControllerManager
from setpoint.controllers.table import CONTROLLERS
from setpoint.kit.clock import VirtualClock
from setpoint.storage.backends.memory import memory_store


class World:
    """A cluster without nodes. `run(names)` starts some controllers; paths are given from `/api` or `/apis` on."""

    def __init__(self, clock: VirtualClock, client: Client) -> None:
        self.clock = clock
        self.client = client
        self.manager: ControllerManager | None = None
        self._running: asyncio.Future[None] | None = None

    async def run(self, *names: str, settings: Settings | None = None) -> None:
        """Start the controllers of these names, or all, and let them come to rest."""
        without = {name for name in CONTROLLERS if names and name not in names}
        client = Client(self.client._transport, user_agent="kube-controller-manager/1.36", clock=self.clock)
        self.manager = ControllerManager(client, self.clock, settings or Settings(cluster_ca="CA"), without=without)
        self._running = asyncio.ensure_future(self.manager.run())
        await self.clock.advance(1)

    async def call(self, method: str, path: str, body: Any = None, **query: str) -> Any:
        return await self.client.raw(method, path, body=body, query=query)

    async def get(self, path: str) -> Any:
        """The object, None if there is none."""
        try:
            return await self.call("GET", path)
        except StatusError as error:
            if error.code != 404:
                raise
            return None

    async def names(self, path: str) -> list[str]:
        return [item["metadata"]["name"] for item in (await self.call("GET", path))["items"]]

    async def namespace(self, name: str, *, account: bool = False) -> None:
        """Make a namespace; pods need its default service account."""
        await self.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        if account:
            await self.call("POST", f"/api/v1/namespaces/{name}/serviceaccounts", {"metadata": {"name": "default"}})

    async def merge(self, path: str, patch: Any) -> Any:
        import orjson

        from setpoint.client.transport import Request as Asked

        headers = {"Content-Type": "application/merge-patch+json", "Accept": "application/json"}
        response = await self.client._transport.call(Asked("PATCH", path, {}, headers, orjson.dumps(patch)))
        assert response.status < 400, response.body
        return orjson.loads(response.body)

    async def stop(self) -> None:
        if self._running is not None:
            self._running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._running
            self._running = None


@pytest.fixture
async def world() -> AsyncIterator[World]:
    clock = VirtualClock()
    store = memory_store(clock)
    await store.open()
    pipeline = make_pipeline(store, clock, address=lambda: "127.0.0.1:6443")
    client = Client(InProcessTransport(pipeline, Request, ADMIN), user_agent="tester/1", clock=clock)
    world = World(clock, client)
    yield world
    await world.stop()
    await store.close()
