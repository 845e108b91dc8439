"""Quotas while many write at once, through two servers on one store: as many come in as may, and not one more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from setpoint.api.machinery.user import ADMIN
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.request import Request, Response
from setpoint.app import bootstrap
from setpoint.app.assembly import make_pipeline
from setpoint.client.client import Client
from setpoint.client.transports.in_process import InProcessTransport
from setpoint.kit.clock import RealClock
from setpoint.storage.backends.memory import memory_store

CREATORS = 200
PATH = "/api/v1/namespaces/default"


@pytest.fixture
async def servers() -> AsyncIterator[list[Pipeline]]:
    clock = RealClock()
    store = memory_store(clock)
    await store.open()
    made = [make_pipeline(store, clock, address=lambda: "127.0.0.1:6443") for _ in range(2)]
    client = Client(InProcessTransport(made[0], Request, ADMIN), user_agent="test", clock=clock)
    await bootstrap.ensure(client, service_address="10.96.0.1", port=6443)
    for pipeline in made:
        for follower in pipeline.followers:
            await follower.load()
    yield made
    for pipeline in made:
        await pipeline.close()
    await store.close()


async def send(pipeline: Pipeline, line: str, body: Any = None) -> Response:
    method, path = line.split(" ")
    content = b"" if body is None else orjson.dumps(body)
    return await pipeline.handle(Request(method, path, {}, {"content-type": "application/json"}, content, ADMIN))


async def quota(pipeline: Pipeline, hard: dict[str, str]) -> None:
    """As the controller leaves it: with what is used."""
    made = orjson.loads((await send(pipeline, f"POST {PATH}/resourcequotas", _quota(hard))).body or b"")
    made["status"] = {"hard": hard, "used": dict.fromkeys(hard, "0")}
    assert (await send(pipeline, f"PUT {PATH}/resourcequotas/q/status", made)).status == 200


def _quota(hard: dict[str, str]) -> dict[str, Any]:
    return {"metadata": {"name": "q"}, "spec": {"hard": hard}}


async def used(pipeline: Pipeline) -> dict[str, str]:
    found: dict[str, str] = orjson.loads((await send(pipeline, f"GET {PATH}/resourcequotas/q")).body or b"")["status"]["used"]
    return found


async def create_all(servers: list[Pipeline], plural: str, **more: Any) -> list[int]:
    bodies = [{"metadata": {"name": f"x{number}"}, **more} for number in range(CREATORS)]
    tasks = [send(servers[number % 2], f"POST {PATH}/{plural}", body) for number, body in enumerate(bodies)]
    return [answer.status for answer in await asyncio.gather(*tasks)]


async def test_counts(servers: list[Pipeline]) -> None:
    await quota(servers[0], {"count/configmaps": "37"})
    codes = await create_all(servers, "configmaps", data={"a": "b"})
    items = orjson.loads((await send(servers[1], f"GET {PATH}/configmaps")).body or b"")["items"]
    assert len(items) == codes.count(201) == 37
    assert set(codes) == {201, 403}
    assert await used(servers[1]) == {"count/configmaps": "37"}


async def test_sums(servers: list[Pipeline]) -> None:
    await send(servers[0], f"POST {PATH}/serviceaccounts", {"metadata": {"name": "default"}})
    await quota(servers[0], {"pods": "100", "requests.cpu": "2"})
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "130m"}}}
    codes = await create_all(servers, "pods", spec={"containers": [container]})
    assert codes.count(201) == 15
    assert await used(servers[1]) == {"pods": "15", "requests.cpu": "1950m"}
