"""Objects nobody would write, for every kind and every verb: an error is an answer, a crash is a fault.

SETPOINT_FUZZ says how many objects of each kind.
"""

from __future__ import annotations

import os
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
from setpoint.registry.resource import ServedResource
from setpoint.registry.table import RESOURCES
from setpoint.storage.backends.memory import memory_store
from setpoint.testing.arbitrary import Arbitrary

OBJECTS = int(os.environ.get("SETPOINT_FUZZ", "10"))
JSON = "application/json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
KINDS = [
    pytest.param(resource, version, id=f"{resource.group_resource}-{version}")
    for resource in RESOURCES
    for version in resource.versions
    if "create" in resource.verbs and resource.definitions.get(version)
]


class Server:
    """A pipeline over a store in memory. `crashes` are the requests that ended in an error of the server's own."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.crashes: list[str] = []

    async def say(self, method: str, url: str, body: Any = None, *, media: str = JSON, accept: str = JSON) -> Response:
        path, _, query = url.partition("?")
        sent = b"" if body is None else orjson.dumps(body)
        headers = {"user-agent": "fuzz/1", "content-type": media, "accept": accept}
        answer = await self.pipeline.handle(
            Request(method=method, path=path, query=parse_qs(query), headers=headers, body=sent, user=ADMIN)
        )
        if answer.status == 500 and b"Internal error occurred" in (answer.body or b""):
            self.crashes.append(f"{method} {url} {media}: {(answer.body or b'')[:400]!r} for {sent[:400]!r}")
        return answer


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    clock = VirtualClock()
    store = memory_store(clock)
    await store.open()
    made = Server(Pipeline(RESOURCES, store, clock, schemas=trees.load()))
    await made.say("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    yield made
    await store.close()


def collection(resource: ServedResource, version: str) -> str:
    root = f"/apis/{resource.group}/{version}" if resource.group else f"/api/{version}"
    return f"{root}/namespaces/default/{resource.plural}" if resource.namespaced else f"{root}/{resource.plural}"


def changes(arbitrary: Arbitrary, sent: Any, stored: Any) -> list[tuple[str, str, Any]]:
    """One request of every kind of change: method, media type, body."""
    path = "/" + arbitrary.rng.choice(("spec", "metadata/labels", "spec/x", "data/-", "spec/0", ""))
    operation = arbitrary.rng.choice(("add", "remove", "replace", "test", "move", "copy"))
    steps = [{"op": operation, "path": path, "from": "/metadata", "value": arbitrary.mutated(sent)}]
    return [
        ("PUT", JSON, arbitrary.mutated(stored)),
        ("PATCH", "application/merge-patch+json", arbitrary.mutated(sent)),
        ("PATCH", "application/strategic-merge-patch+json", arbitrary.mutated(sent)),
        ("PATCH", "application/apply-patch+yaml", arbitrary.mutated(sent)),
        ("PATCH", "application/json-patch+json", arbitrary.mutated(steps, 1)),
    ]


@pytest.mark.parametrize(("resource", "version"), KINDS)
async def test_no_object_makes_the_server_fail(server: Server, resource: ServedResource, version: str) -> None:
    node = trees.load().tree(resource.definitions[version])
    base = collection(resource, version)
    for seed in range(OBJECTS):
        arbitrary = Arbitrary(seed, junk=0.01 if seed % 2 else 0.0)
        made = arbitrary.of(node)
        body = {**(made if isinstance(made, dict) else {}), "kind": resource.kind, "metadata": {"name": f"x-{seed}"}}
        body["apiVersion"] = f"{resource.group}/{version}" if resource.group else version
        answer = await server.say("POST", base, body)
        if answer.status != 201 or resource.virtual:
            continue
        stored = orjson.loads(answer.body or b"{}")
        url = f"{base}/{stored['metadata']['name']}"
        for method, media, change in changes(arbitrary, body, stored):
            query = "?fieldManager=fuzz&force=true" if "apply" in media else ""
            await server.say(method, url + query, change, media=media)
        await server.say("GET", base, accept=TABLE)
        await server.say("DELETE", url)
    assert server.crashes == []
