"""A server with admission webhooks, and an HTTPS server that is those webhooks."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Callable
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
from setpoint.apiserver.request import Request, Response

_CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations"
CONFIG_MAPS = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}

Answer = Callable[[dict[str, Any]], dict[str, Any] | web.Response]


def allow(**more: Any) -> Answer:
    return lambda _: {"allowed": True, **more}


def patching(*operations: dict[str, Any], **more: Any) -> Answer:
    text = base64.b64encode(orjson.dumps(operations)).decode()
    return lambda _: {"allowed": True, "patchType": "JSONPatch", "patch": text, **more}


class Hooks:
    """The webhooks: `answers` by path, `asked` is what came, in order."""

    def __init__(self, port: int, bundle: str) -> None:
        self.port = port
        self.bundle = bundle
        self.answers: dict[str, Any] = {}
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.connections = 0
        self.version = "v1"

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        name = request.path.strip("/")
        review = await request.json()
        self.asked.append((name, review["request"]))
        answer = self.answers.get(name, allow())(review["request"])
        if asyncio.iscoroutine(answer):
            answer = await answer
        if isinstance(answer, web.StreamResponse):
            return answer
        response = {"uid": review["request"]["uid"], **answer}
        return web.json_response({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response})

    def names(self) -> list[str]:
        return [name for name, _ in self.asked]

    def client(self, name: str) -> dict[str, Any]:
        return {"url": f"https://127.0.0.1:{self.port}/{name}", "caBundle": self.bundle}

    def hook(self, name: str, **more: Any) -> dict[str, Any]:
        return {
            "name": f"{name}.example.com",
            "clientConfig": self.client(name),
            "rules": [CONFIG_MAPS],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "timeoutSeconds": 5,
            **more,
        }


class Api:
    """Requests to a server."""

    def __init__(self, pipeline: Pipeline, hooks: Hooks) -> None:
        self.pipeline = pipeline
        self.hooks = hooks

    async def respond(self, line: str, body: Any = None, kind: str = "application/json", user: UserInfo = ADMIN) -> Response:
        method, url = line.split(" ", 1)
        path, _, query = url.partition("?")
        content = b"" if body is None else orjson.dumps(body)
        headers = {"content-type": kind, "user-agent": "test/1"}
        self.request = Request(method, path, parse_qs(query, keep_blank_values=True), headers, content, user)
        return await self.pipeline.handle(self.request)

    async def __call__(self, line: str, body: Any = None, *, code: int = 0, kind: str = "application/json") -> Any:
        response = await self.respond(line, body, kind)
        value = orjson.loads(response.body or b"null")
        assert response.status == code if code else response.status < 400, value
        return value

    async def configure(self, kind: str, name: str, *hooks: dict[str, Any]) -> None:
        """Create a configuration and wait until it is in force."""
        await self(f"POST {_CONFIGURATIONS.format(kind)}", {"metadata": {"name": name}, "webhooks": list(hooks)})
        await self.settle()

    async def settle(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)

    async def make(self, name: str = "a", query: str = "", code: int = 0, **more: Any) -> Any:
        return await self(f"POST /api/v1/namespaces/default/configmaps{query}", {"metadata": {"name": name}, **more}, code=code)


@pytest.fixture
async def hooks(tmp_path: Path) -> AsyncIterator[Hooks]:
    pair = Certificate.made(tmp_path, "hook.default.svc")
    made = Hooks(0, pair.bundle)
    async with serving(made.handle, pair.server_context()) as made.port:
        yield made


@pytest.fixture
async def api(hooks: Hooks) -> AsyncIterator[Api]:
    async with whole_server() as pipeline:
        yield Api(pipeline, hooks)
