"""Discovery and OpenAPI of several servers as one."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest
from tests.apiserver.aggregation.conftest import METRICS, Api

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@pytest.fixture
async def served(api: Api) -> Api:
    await api.serve()
    await api.register()
    await api.condition("Passed")
    for _ in range(200):
        if METRICS.removeprefix("/") in (await api("GET /openapi/v3"))["paths"]:
            break
        await asyncio.sleep(0.01)
    return api


async def test_plain_discovery(served: Api) -> None:
    groups = [group["name"] for group in (await served("GET /apis"))["groups"]]
    assert groups[-1] == "metrics.example.com"
    assert (await served("GET /apis/metrics.example.com"))["preferredVersion"]["version"] == "v1"
    assert (await served(f"GET {METRICS}"))["resources"][0]["name"] == "things"


async def test_aggregated_discovery(served: Api) -> None:
    found = await served("GET /apis", accept=_AGGREGATED)
    (entry,) = next(item for item in found["items"] if item["metadata"].get("name") == "metrics.example.com")["versions"]
    kind = {"group": "metrics.example.com", "version": "v1", "kind": "Thing"}
    resource = {
        "resource": "things",
        "responseKind": kind,
        "scope": "Namespaced",
        "singularResource": "thing",
        "verbs": ["get", "list"],
    }
    assert entry == {"version": "v1", "resources": [resource], "freshness": "Current"}


async def test_groups_stand_where_their_priority_puts_them(served: Api) -> None:
    await served.register(group="first.example.com", groupPriorityMinimum=17900)
    groups: list[Any] = []
    for _ in range(100):
        groups = [group["name"] for group in (await served("GET /apis"))["groups"]]
        if "first.example.com" in groups:
            break
        await asyncio.sleep(0.01)
    assert groups.index("first.example.com") < groups.index("apps")


async def test_openapi_v3(served: Api) -> None:
    paths = (await served("GET /openapi/v3"))["paths"]
    assert paths[METRICS.removeprefix("/")] == {"serverRelativeURL": f"/openapi/v3{METRICS}?hash=ABC"}
    assert "apis/apps/v1" in paths
    assert (await served(f"GET /openapi/v3{METRICS}?hash=ABC"))["info"]["title"] == "other"


async def test_openapi_v2(served: Api) -> None:
    document: dict[str, Any] = {}
    for _ in range(100):
        response = await served.respond("GET /openapi/v2", headers={"accept": "application/json"})
        document = orjson.loads(response.body or b"")
        if f"{METRICS}/things" in document["paths"]:
            break
        await asyncio.sleep(0.02)
    assert f"{METRICS}/things" in document["paths"]
    assert "example.Thing" in document["definitions"]
    assert "example.Unused" not in document["definitions"]
    assert "io.k8s.api.core.v1.Pod" in document["definitions"]
