"""A server, and another one behind an APIService of it, which asks for the front proxy's certificate."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import orjson
import pytest
from aiohttp import web
from tests.apiserver.webhooks.serving import Certificate, serving
from tests.apiserver.whole import ADMIN, whole_server

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.pki import Authority, Subject
from setpoint.apiserver.request import Request, Response
from setpoint.app import first_objects
from setpoint.registry.table import minors
from setpoint.storage.protocol import Encoded

API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
METRICS = "/apis/metrics.example.com/v1"

Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Other:
    """The other server: it serves `things` in metrics.example.com/v1, and what `answers` says."""

    def __init__(self, bundle: str) -> None:
        self.port = 0
        self.bundle = bundle
        self.asked: list[web.BaseRequest] = []
        self.answers: dict[str, Answer] = {}

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked.append(request)
        if request.path in self.answers:
            return await self.answers[request.path](request)
        row = {"name": "things", "singularName": "thing", "namespaced": True, "kind": "Thing", "verbs": ["get", "list"]}
        if request.path == METRICS:
            return web.json_response({"kind": "APIResourceList", "groupVersion": "metrics.example.com/v1", "resources": [row]})
        if request.path == "/openapi/v3":
            mark = {"serverRelativeURL": f"/openapi/v3{METRICS}?hash=ABC"}
            return web.json_response({"paths": {METRICS.removeprefix("/"): mark}})
        if request.path == f"/openapi/v3{METRICS}":
            return web.json_response({"openapi": "3.0.0", "info": {"title": "other"}})
        if request.path == "/openapi/v2":
            reference = {"$ref": "#/definitions/example.Thing"}
            operation = {"get": {"responses": {"200": {"schema": reference}}}}
            definitions = {"example.Thing": {"type": "object"}, "example.Unused": {"type": "object"}}
            return web.json_response({"swagger": "2.0", "paths": {f"{METRICS}/things": operation}, "definitions": definitions})
        if request.path == f"{METRICS}/namespaces/default/things":
            return web.json_response({"kind": "ThingList", "apiVersion": "metrics.example.com/v1", "items": []})
        return web.json_response({"kind": "Status", "code": 404}, status=404)

    def spec(self, **more: Any) -> dict[str, Any]:
        service = {"namespace": "default", "name": "hook", "port": self.port}
        priorities = {"groupPriorityMinimum": 100, "versionPriority": 100}
        return {
            "group": "metrics.example.com",
            "version": "v1",
            "service": service,
            "caBundle": self.bundle,
            **priorities,
            **more,
        }


class Api:
    """Requests to the server."""

    def __init__(self, pipeline: Pipeline, other: Other) -> None:
        self.pipeline = pipeline
        self.other = other

    async def respond(
        self, line: str, body: Any = None, user: UserInfo = ADMIN, headers: dict[str, str] | None = None
    ) -> Response:
        method, url = line.split(" ", 1)
        path, _, query = url.partition("?")
        content = b"" if body is None else orjson.dumps(body)
        sent = {"content-type": "application/json", **(headers or {})}
        return await self.pipeline.handle(Request(method, path, parse_qs(query, keep_blank_values=True), sent, content, user))

    async def __call__(self, line: str, body: Any = None, **headers: str) -> Any:
        response = await self.respond(line, body, headers=headers)
        value = orjson.loads(response.body or b"null")
        assert response.status < 400, value
        return value

    async def register(self, **more: Any) -> None:
        spec = self.other.spec(**more)
        await self(f"POST {API_SERVICES}", {"metadata": {"name": f"{spec['version']}.{spec['group']}"}, "spec": spec})

    async def serve(self) -> None:
        """A Service for the other server, whose only endpoint is on this machine."""
        ports = [{"name": "https", "port": self.other.port, "targetPort": self.other.port}]
        await self("POST /api/v1/namespaces/default/services", {"metadata": {"name": "hook"}, "spec": {"ports": ports}})
        labels = {"kubernetes.io/service-name": "hook"}
        endpoint = {"addresses": ["127.0.0.1"], "conditions": {"ready": True}}
        piece = {
            "kind": "EndpointSlice",
            "apiVersion": "discovery.k8s.io/v1",
            "metadata": {"name": "hook-1", "namespace": "default", "labels": labels},
            "addressType": "IPv4",
            "endpoints": [endpoint],
            "ports": [{"name": "https", "port": self.other.port}],
        }
        key = "endpointslices.discovery.k8s.io/default/hook-1"
        await self.pipeline.store.create(key, lambda _: Encoded(orjson.dumps(piece)))  # the API takes no loopback addresses

    async def condition(self, reason: str, name: str = "v1.metrics.example.com") -> dict[str, Any]:
        """The condition Available, once it has that reason."""
        found: dict[str, Any] = {}
        for _ in range(400):
            obj = await self(f"GET {API_SERVICES}/{name}")
            conditions = (obj.get("status") or {}).get("conditions") or [{}]
            found = conditions[0]
            if found.get("reason") == reason:
                return found
            await asyncio.sleep(0.01)
        raise AssertionError(found)


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    authority = Authority(tmp_path / "proxy", "proxy")
    own = Certificate.made(tmp_path, "hook.default.svc")
    context = own.server_context()
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cafile=str(authority.certificate_file))
    other = Other(own.bundle)
    pair = authority.issue("client", Subject("front-proxy-client"))
    async with serving(other.handle, context) as other.port, whole_server(front_proxy=pair) as pipeline:
        made = Api(pipeline, other)
        for body in first_objects.api_services(minors.of_minor(minors.DEFAULT).groups):
            await made(f"POST {API_SERVICES}", body)
        yield made
