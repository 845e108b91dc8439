from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest

from setpoint.api.machinery import status
from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import UserInfo
from setpoint.api.types.core_v1 import CONFIGMAPS, PODS, Pod
from setpoint.client.client import Client
from setpoint.client.metadata import metadata_only
from setpoint.client.transports.in_process import InProcessTransport
from setpoint.kit.clock import VirtualClock

POD = {"metadata": {"name": "a", "namespace": "ns", "resourceVersion": "5"}, "spec": {"nodeName": "n1", "containers": None}}


@dataclass
class Ask:
    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes
    user: UserInfo

    @property
    def line(self) -> str:
        query = "&".join(f"{name}={value[0]}" for name, value in self.query.items())
        return f"{self.method} {self.path}" + (f"?{query}" if query else "")


@dataclass
class Answer:
    status: int = 200
    body: bytes | None = None
    stream: AsyncIterator[bytes] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    async def gather(self) -> None:
        """The body is made already."""


class Server:
    """A pipeline that answers what it is told to and keeps what it was asked."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[Ask] = []

    async def handle(self, request: Ask) -> Answer:
        self.asked.append(request)
        return self.answers.pop(0)


def make(*answers: Answer) -> tuple[Client, Server]:
    server = Server(*answers)
    transport = InProcessTransport(server, Ask, UserInfo("me"))
    return Client(transport, user_agent="tester/1.0", clock=VirtualClock()), server


def json(value: Any) -> Answer:
    return Answer(body=orjson.dumps(value))


async def lines(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def test_get_decodes_to_the_resources_struct_and_says_who_asks() -> None:
    client, server = make(json(POD))
    pod = await client.get(PODS, "a", "ns")
    assert isinstance(pod, Pod)
    assert (pod.metadata.name, pod.spec.node_name) == ("a", "n1")
    assert server.asked[0].line == "GET /api/v1/namespaces/ns/pods/a"
    assert server.asked[0].headers["user-agent"] == "tester/1.0"
    assert server.asked[0].user.name == "me"


async def test_list_gives_items_revision_and_token() -> None:
    client, server = make(json({"metadata": {"resourceVersion": "9", "continue": "more"}, "items": [POD, POD]}))
    page = await client.list(PODS, label_selector="app=x", limit=2)
    assert ([pod.metadata.name for pod in page.items], page.resource_version, page.continue_token) == (["a", "a"], "9", "more")
    assert server.asked[0].line == "GET /api/v1/pods?labelSelector=app=x&limit=2"


async def test_an_empty_list_may_be_null() -> None:
    client, _ = make(json({"metadata": {"resourceVersion": "9"}, "items": None}))
    assert (await client.list(PODS)).items == []


async def test_watch_joins_lines_broken_by_chunks_and_ends_at_an_error() -> None:
    line = orjson.dumps({"type": "ADDED", "object": POD}) + b"\n"
    gone = orjson.dumps({"type": "ERROR", "object": status.expired("too old resource version: 1 (9)").status()}) + b"\n"
    client, server = make(Answer(stream=lines(line + line[:30], line[30:], gone)))
    async with aclosing(client.watch(PODS, "ns", resource_version="5", timeout_seconds=60)) as events:
        for _ in range(2):
            assert [(event.type, event.object.spec.node_name) for event in await anext(events)] == [("ADDED", "n1")]
        with pytest.raises(StatusError) as caught:
            await anext(events)
    assert (caught.value.code, caught.value.reason) == (410, "Expired")
    asked = server.asked[0].line
    assert asked == "GET /api/v1/namespaces/ns/pods?watch=true&resourceVersion=5&timeoutSeconds=60&allowWatchBookmarks=true"


async def test_a_refused_watch_raises_its_status() -> None:
    refused = status.forbidden_object("", "pods", "", "no")
    client, _ = make(Answer(403, orjson.dumps(refused.status())))
    with pytest.raises(StatusError, match="pods is forbidden: no"):
        async for _ in client.watch(PODS, resource_version="5"):
            pass


async def test_metadata_only_asks_for_partial_objects() -> None:
    client, server = make(json({"metadata": {"resourceVersion": "9"}, "items": [POD]}), json(POD))
    resource = metadata_only(PODS)
    assert (await client.list(resource)).items[0].metadata.name == "a"
    assert "as=PartialObjectMetadataList" in server.asked[0].headers["accept"]
    await client.get(resource, "a", "ns")
    assert "as=PartialObjectMetadata;" in server.asked[1].headers["accept"]


Call = Callable[[Client], Any]


@pytest.mark.parametrize(
    ("call", "line", "media", "body"),
    [
        (
            lambda client: client.create(CONFIGMAPS, {"metadata": {"name": "c"}}, "ns", dry_run=True),
            "POST /api/v1/namespaces/ns/configmaps?dryRun=All",
            "application/json",
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}},
        ),
        (
            lambda client: client.update(CONFIGMAPS, {"metadata": {"name": "c", "namespace": "ns"}}),
            "PUT /api/v1/namespaces/ns/configmaps/c",
            "application/json",
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "ns"}},
        ),
        (
            lambda client: client.patch(CONFIGMAPS, "c", {"data": None}, "ns", kind="strategic", subresource="status"),
            "PATCH /api/v1/namespaces/ns/configmaps/c/status",
            "application/strategic-merge-patch+json",
            {"data": None},
        ),
        (
            lambda client: client.apply(CONFIGMAPS, {"metadata": {"name": "c"}}, "ns", force=True),
            "PATCH /api/v1/namespaces/ns/configmaps/c?fieldManager=tester&force=true",
            "application/apply-patch+yaml",
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}},
        ),
        (
            lambda client: client.delete(CONFIGMAPS, "c", "ns", grace_seconds=0, propagation="Orphan", uid="u"),
            "DELETE /api/v1/namespaces/ns/configmaps/c",
            "application/json",
            {
                "kind": "DeleteOptions",
                "apiVersion": "v1",
                "gracePeriodSeconds": 0,
                "propagationPolicy": "Orphan",
                "preconditions": {"uid": "u"},
            },
        ),
    ],
)
async def test_writes(call: Call, line: str, media: str, body: Any) -> None:
    client, server = make(json({"metadata": {"name": "c"}}))
    await call(client)
    asked = server.asked[0]
    assert (asked.line, asked.headers["content-type"], orjson.loads(asked.body)) == (line, media, body)


async def test_a_busy_server_is_asked_again_when_it_says() -> None:
    busy = Answer(429, orjson.dumps(status.too_many_requests("busy", 2).status()), headers={"Retry-After": "2"})
    client, server = make(busy, json(POD))
    clock = client._clock
    assert isinstance(clock, VirtualClock)
    getting = asyncio.ensure_future(client.get(PODS, "a", "ns"))
    await clock.advance(1.9)
    assert not getting.done()
    await clock.advance(0.2)
    assert getting.result().metadata.name == "a"
    assert len(server.asked) == 2


async def test_a_refusal_that_is_no_status() -> None:
    client, _ = make(Answer(404, b"404 page not found\n"))
    with pytest.raises(StatusError) as caught:
        await client.get(PODS, "a", "ns")
    assert (caught.value.code, caught.value.reason, caught.value.message) == (404, "NotFound", "404 page not found")
