from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from setpoint.api.machinery.schema import trees
from setpoint.api.machinery.user import ADMIN
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.request import Request
from setpoint.app import bootstrap, flow_control_objects
from setpoint.app.flow_control_objects import LEVELS, SCHEMAS
from setpoint.app.options import DEFAULT_MINOR, SERVICE_RANGE
from setpoint.client.client import Client
from setpoint.client.transports.in_process import InProcessTransport
from setpoint.kit.clock import VirtualClock
from setpoint.registry.table import RESOURCES
from setpoint.storage.backends.memory import memory_store


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    clock = VirtualClock()
    store = memory_store(clock)
    await store.open()
    pipeline = Pipeline(RESOURCES, store, clock, schemas=trees.load())
    made = Client(InProcessTransport(pipeline, Request, ADMIN), user_agent="t", clock=clock)
    await bootstrap.describe_server(made, service_range=SERVICE_RANGE, minor=DEFAULT_MINOR)
    yield made
    await store.close()


async def precedence(client: Client, name: str) -> Any:
    return (await client.get(SCHEMAS, name))["spec"]["matchingPrecedence"]


async def change(client: Client, name: str, **metadata: Any) -> None:
    await client.patch(SCHEMAS, name, {"spec": {"matchingPrecedence": 7777}, "metadata": metadata})


async def test_nothing_is_written_where_all_is_well(client: Client) -> None:
    before = (await client.list(SCHEMAS)).items
    await flow_control_objects.ensure(client, DEFAULT_MINOR)
    assert (await client.list(SCHEMAS)).items == before


async def test_what_was_deleted_or_changed_is_set_right(client: Client) -> None:
    await client.delete(SCHEMAS, "probes")
    await client.delete(LEVELS, "exempt")
    await change(client, "service-accounts")
    await flow_control_objects.ensure(client, DEFAULT_MINOR)
    assert await precedence(client, "probes") == 2
    assert await precedence(client, "service-accounts") == 9000
    assert (await client.get(LEVELS, "exempt"))["spec"]["type"] == "Exempt"


async def test_what_is_the_users_stays_as_it_is(client: Client) -> None:
    await change(client, "service-accounts", annotations={"apf.kubernetes.io/autoupdate-spec": "false"})
    await change(client, "global-default", annotations={"apf.kubernetes.io/autoupdate-spec": None})
    await flow_control_objects.ensure(client, DEFAULT_MINOR)
    assert await precedence(client, "service-accounts") == 7777
    assert await precedence(client, "global-default") == 7777  # changed since it was made
