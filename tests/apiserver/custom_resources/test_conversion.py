"""Kinds whose versions a webhook converts, against a small HTTPS webhook with an authority of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web
from tests.apiserver.webhooks.serving import Certificate, serving

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.request import Request, Response
from setpoint.testing.cluster import VirtualCluster

_USER = UserInfo("admin", groups=("system:masters", "system:authenticated"))
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_V1 = "/apis/demo.test/v1/namespaces/default/widgets"
_V2 = "/apis/demo.test/v2/namespaces/default/widgets"
_TEXT = {"type": "string"}
_FAILED = "conversion webhook for demo.test/{}, Kind=Widget failed: "


class Webhook:
    """v1 has `spec.host` and `spec.port`, v2 `spec.address`. `fault` changes what it answers."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.fault = ""

    async def handle(self, request: web.BaseRequest) -> web.Response:
        review = await request.json()
        asked = review["request"]
        self.calls.append(asked)
        if self.fault == "status":
            return web.Response(status=503, text="closed")
        result = {"status": "Failure", "message": "no way"} if self.fault == "refuse" else {"status": "Success"}
        converted = [self.convert(obj, asked["desiredAPIVersion"]) for obj in asked["objects"]]
        if self.fault == "count":
            converted.append(converted[0])
        uid = "other" if self.fault == "uid" else asked["uid"]
        response = {"uid": uid, "result": result, "convertedObjects": converted}
        return web.json_response({**review, "response": response, "request": None})

    def convert(self, obj: dict[str, Any], wanted: str) -> dict[str, Any]:
        spec = obj["spec"]
        if wanted.endswith("/v2"):
            spec = {"address": f"{spec['host']}:{spec['port']}"}
        else:
            host, _, port = spec["address"].partition(":")
            spec = {"host": host, "port": port}
        metadata = {**obj["metadata"], "labels": {**obj["metadata"].get("labels", {}), "converted": "yes"}, "generation": 77}
        if self.fault == "name":
            metadata["name"] = "changed"
        return {**obj, "apiVersion": wanted, "spec": spec, "metadata": metadata}


class Server:
    """Plain requests to the pipeline of a virtual cluster, and the webhook."""

    def __init__(self, cluster: VirtualCluster, hook: Webhook, port: int, bundle: str) -> None:
        self.cluster = cluster
        self.hook = hook
        self.port = port
        self.bundle = bundle

    async def ask(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Response:
        path, _, text = path.partition("?")
        query = {name: [value] for name, _, value in (part.partition("=") for part in text.split("&"))} if text else {}
        content = b"" if body is None else orjson.dumps(body)
        request = Request(method, path, query, {"content-type": kind}, content, _USER)
        return await self.cluster._server.pipeline.handle(request)

    async def json(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> dict[str, Any]:
        found: dict[str, Any] = orjson.loads((await self.ask(method, path, body, kind)).body or b"null")
        return found

    async def define(self, **client: Any) -> None:
        """Define Widget, stored as v1."""
        client = client or {"url": f"https://127.0.0.1:{self.port}/convert"}
        conversion = {
            "strategy": "Webhook",
            "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {**client, "caBundle": self.bundle}},
        }
        spec = {
            "group": "demo.test",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [_version("v1", stored=True, host=_TEXT, port=_TEXT), _version("v2", stored=False, address=_TEXT)],
            "conversion": conversion,
        }
        made = await self.json("POST", _CRDS, {"metadata": {"name": "widgets.demo.test"}, "spec": spec})
        assert made["kind"] == "CustomResourceDefinition", made
        await self.cluster.clock.advance(1)

    async def make(self, version: str, name: str, **spec: str) -> dict[str, Any]:
        body = {"apiVersion": f"demo.test/{version}", "kind": "Widget", "metadata": {"name": name}, "spec": spec}
        return await self.json("POST", _V1 if version == "v1" else _V2, body)


def _version(name: str, *, stored: bool, **spec: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}
    return {"name": name, "served": True, "storage": stored, "schema": {"openAPIV3Schema": schema}}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    pair, hook = Certificate.made(tmp_path, "hook.default.svc"), Webhook()
    async with serving(hook.handle, pair.server_context()) as port, VirtualCluster(0, parts=()) as cluster:
        yield Server(cluster, hook, port, pair.bundle)


async def test_reads_in_both_versions(server: Server) -> None:
    await server.define()
    for name in ("a", "b", "c"):
        await server.make("v1", name, host=name, port="1")
    assert server.hook.calls == []
    one = await server.json("GET", f"{_V2}/a")
    assert (one["apiVersion"], one["spec"]) == ("demo.test/v2", {"address": "a:1"})
    assert one["metadata"]["labels"] == {"converted": "yes"}
    assert one["metadata"]["generation"] == 1
    found = await server.json("GET", _V2)
    assert [each["spec"]["address"] for each in found["items"]] == ["a:1", "b:1", "c:1"]
    assert len(server.hook.calls) == 2, "a page is converted by one call"
    assert (await server.json("GET", f"{_V1}/a"))["spec"] == {"host": "a", "port": "1"}
    assert (await server.json("GET", f"{_V2}?labelSelector=x=y"))["items"] == []


async def test_writes_in_the_other_version(server: Server) -> None:
    await server.define()
    made = await server.make("v2", "a", address="h:1")
    assert (made["apiVersion"], made["spec"]) == ("demo.test/v2", {"address": "h:1"})
    assert (await server.json("GET", f"{_V1}/a"))["spec"] == {"host": "h", "port": "1"}
    made["spec"]["address"] = "h:2"
    changed = await server.json("PUT", f"{_V2}/a", made)
    assert (changed["spec"], changed["metadata"]["generation"]) == ({"address": "h:2"}, 2)
    again = await server.json("PUT", f"{_V2}/a", changed)
    assert again["metadata"]["resourceVersion"] == changed["metadata"]["resourceVersion"]
    patch = {"spec": {"address": "h:3"}}
    rehearsed = await server.json("PATCH", f"{_V2}/a?dryRun=All", patch, "application/merge-patch+json")
    assert (rehearsed["spec"], rehearsed["metadata"]["generation"]) == ({"address": "h:3"}, 3)
    patched = await server.json("PATCH", f"{_V2}/a", patch, "application/merge-patch+json")
    assert patched["spec"] == {"address": "h:3"}
    stored = await server.json("GET", f"{_V1}/a")
    assert stored["spec"] == {"host": "h", "port": "3"}
    assert stored["metadata"]["resourceVersion"] == patched["metadata"]["resourceVersion"]
    assert (await server.json("DELETE", f"{_V2}/a"))["status"] == "Success"
    assert (await server.ask("GET", f"{_V1}/a")).status == 404


async def test_managers_of_two_versions(server: Server) -> None:
    await server.define()
    whole = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"host": "h", "port": "1"}}
    apply = "application/apply-patch+yaml"
    assert (await server.json("PATCH", f"{_V1}/a?fieldManager=one", whole, apply))["spec"]["host"] == "h"
    other = {**whole, "apiVersion": "demo.test/v2", "spec": {"address": "h:2"}}
    refused = await server.json("PATCH", f"{_V2}/a?fieldManager=two", other, apply)
    assert refused["code"] == 409, refused["message"]
    taken = await server.json("PATCH", f"{_V2}/a?fieldManager=two&force=true", other, apply)
    assert taken["spec"] == {"address": "h:2"}, taken
    versions = {each["manager"]: each["apiVersion"] for each in taken["metadata"]["managedFields"]}
    assert versions["two"] == "demo.test/v2"
    assert (await server.json("GET", f"{_V1}/a"))["spec"] == {"host": "h", "port": "2"}


async def test_a_watch_in_the_other_version(server: Server) -> None:
    await server.define()
    await server.make("v1", "a", host="a", port="1")
    response = await server.ask("GET", f"{_V2}?watch=true")
    assert response.stream is not None
    lines = aiter(response.stream)
    async with asyncio.timeout(10):
        assert _event(await anext(lines)) == ("ADDED", {"address": "a:1"})
        await server.make("v1", "b", host="b", port="2")
        assert _event(await anext(lines)) == ("ADDED", {"address": "b:2"})
        await server.ask("DELETE", f"{_V1}/b")
        assert _event(await anext(lines)) == ("DELETED", {"address": "b:2"})
        server.hook.fault = "refuse"
        await server.make("v1", "c", host="c", port="3")
        error = orjson.loads(await anext(lines))
    assert error["type"] == "ERROR"
    assert error["object"]["message"] == _FAILED.format("v1") + "no way"


def _event(line: bytes) -> tuple[str, Any]:
    event = orjson.loads(line)
    assert event["object"]["apiVersion"] == "demo.test/v2"
    return event["type"], event["object"]["spec"]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("refuse", "failed: no way"),
        ("uid", 'got "other"'),
        ("count", "returned 2 objects, expected 1"),
        ("name", "returned invalid converted object at index 0: must have the same name: a != changed"),
        ("status", "failed: the server is currently unable to handle the request"),
    ],
)
async def test_a_webhook_that_fails_changes_nothing(server: Server, fault: str, message: str) -> None:
    await server.define()
    before = await server.make("v1", "a", host="a", port="1")
    server.hook.fault = fault
    read = await server.json("GET", f"{_V2}/a")
    assert (read["code"], read["status"]) == (500, "Failure")
    assert read["message"].startswith("conversion webhook for demo.test/v1, Kind=Widget ")
    assert message in read["message"]
    assert (await server.json("GET", _V2))["code"] == 500
    body = {"apiVersion": "demo.test/v2", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"address": "x:1"}}
    assert (await server.json("PUT", f"{_V2}/a", body))["code"] == 500
    assert await server.json("GET", f"{_V1}/a") == before
    assert (await server.make("v2", "n", address="n:1"))["code"] == 500
    body["metadata"] = {"name": "n"}
    assert (await server.json("POST", f"{_V2}?dryRun=All", body))["code"] == 500
    assert (await server.ask("GET", f"{_V1}/n")).status == 404


async def test_a_webhook_behind_a_service(server: Server) -> None:
    service = {"name": "hook", "namespace": "default", "path": "/convert"}
    await server.define(service=service)
    await server.make("v1", "a", host="a", port="1")
    missing = await server.json("GET", f"{_V2}/a")
    url = 'Post "https://hook.default.svc:443/convert?timeout=30s": service "hook" not found'
    assert missing["message"] == _FAILED.format("v1") + url
    spec = {"ports": [{"port": 443, "targetPort": server.port}]}
    await server.ask("POST", "/api/v1/namespaces/default/services", {"metadata": {"name": "hook"}, "spec": spec})
    await server.cluster._server.pipeline.store.create("endpointslices.discovery.k8s.io/default/hook", _slice(server.port))
    assert (await server.json("GET", f"{_V2}/a"))["spec"] == {"address": "a:1"}


def _slice(port: int) -> Any:
    from setpoint.storage.protocol import Encoded

    metadata = {"name": "hook", "namespace": "default", "labels": {"kubernetes.io/service-name": "hook"}}
    body = {"metadata": metadata, "ports": [{"name": "", "port": port}], "endpoints": [{"addresses": ["127.0.0.1"]}]}
    return lambda _revision: Encoded(orjson.dumps({"kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1", **body}))


async def test_an_unreachable_webhook(server: Server) -> None:
    await server.define(url="https://127.0.0.1:1/convert")
    await server.make("v1", "a", host="a", port="1")
    text = 'Post "https://127.0.0.1:1/convert?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused'
    assert (await server.json("GET", f"{_V2}/a"))["message"] == _FAILED.format("v1") + text


async def test_an_untrusted_webhook(server: Server, tmp_path: Path) -> None:
    server.bundle = Certificate.made(tmp_path).bundle
    await server.define()
    await server.make("v1", "a", host="a", port="1")
    text = f'Post "https://127.0.0.1:{server.port}/convert?timeout=30s": tls: failed to verify certificate: '
    assert (await server.json("GET", f"{_V2}/a"))["message"].startswith(_FAILED.format("v1") + text)
    assert server.hook.calls == []


async def test_tables_and_metadata_in_the_other_version(server: Server) -> None:
    await server.define()
    await server.make("v1", "a", host="a", port="1")
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    request = Request("GET", _V2, {"includeObject": ["Object"]}, {"accept": table}, b"", _USER)
    found = orjson.loads((await server.cluster._server.pipeline.handle(request)).body or b"")
    assert [row["object"]["spec"] for row in found["rows"]] == [{"address": "a:1"}]
