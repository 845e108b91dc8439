"""A server with all that it has when it runs, in real time, except for its listening."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.request import Request
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
