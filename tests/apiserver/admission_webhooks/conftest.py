"""A server with admission webhooks, and an HTTPS server that is those webhooks."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web
from tests.apiserver.webhooks.serving import Certificate, serving
from tests.apiserver.whole import Requests, whole_server

from setpoint.apiserver.pipeline import Pipeline

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


class Api(Requests):
    """Requests to a server, and its webhooks."""

    def __init__(self, pipeline: Pipeline, hooks: Hooks) -> None:
        super().__init__(pipeline)
        self.hooks = hooks

    async def configure(self, kind: str, name: str, *hooks: dict[str, Any]) -> None:
        """Create a configuration and wait until it is in force."""
        await self(f"POST {_CONFIGURATIONS.format(kind)}", {"metadata": {"name": name}, "webhooks": list(hooks)})
        await self.settle()


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
