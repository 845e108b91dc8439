"""A server in which policies are in force as soon as they are written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import parse_qs

import orjson
import pytest

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.request import Request, Response
from setpoint.app import bootstrap
from setpoint.app.assembly import make_pipeline
from setpoint.client.client import Client
from setpoint.client.transports.in_process import InProcessTransport
from setpoint.kit.clock import RealClock
from setpoint.kit.tasks import Tasks
from setpoint.storage.backends.memory import memory_store

ADMIN = UserInfo("admin", groups=("system:masters", "system:authenticated"))
_GROUP = "/apis/admissionregistration.k8s.io/v1"
CONFIG_MAPS = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}


class Api:
    """Requests to a server."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.warnings: list[str] = []
        self.annotations: Mapping[str, str] = {}

    async def respond(self, line: str, body: Any = None, kind: str = "application/json", user: UserInfo = ADMIN) -> Response:
        method, url = line.split(" ", 1)
        path, _, query = url.partition("?")
        content = b"" if body is None else orjson.dumps(body)
        headers = {"content-type": kind, "user-agent": "test/1"}
        request = Request(method, path, parse_qs(query, keep_blank_values=True), headers, content, user)
        response = await self.pipeline.handle(request)
        self.annotations = request.annotations
        self.warnings = list(response.warnings)
        return response

    async def __call__(
        self, line: str, body: Any = None, *, code: int = 0, kind: str = "application/json", user: UserInfo = ADMIN
    ) -> Any:
        response = await self.respond(line, body, kind, user)
        value = orjson.loads(response.body or b"null")
        assert response.status == code if code else response.status < 400, value
        return value

    async def settle(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)

    async def validating(self, name: str, *validations: Any, actions: tuple[str, ...] = ("Deny",), **spec: Any) -> None:
        """Create a policy about config maps with a binding, and wait until it is in force."""
        binding = spec.pop("binding", {})
        given = {"matchConstraints": {"resourceRules": [CONFIG_MAPS]}, "validations": list(map(_validation, validations)), **spec}
        await self(f"POST {_GROUP}/validatingadmissionpolicies", {"metadata": {"name": name}, "spec": given})
        bound = {"policyName": name, "validationActions": list(actions), **binding}
        await self(f"POST {_GROUP}/validatingadmissionpolicybindings", {"metadata": {"name": name}, "spec": bound})
        await self.settle()

    async def mutating(self, name: str, *mutations: Any, **spec: Any) -> None:
        """Create a mutating policy about config maps with a binding, and wait until it is in force."""
        binding = spec.pop("binding", {})
        rules = {"matchConstraints": {"resourceRules": [CONFIG_MAPS]}, "reinvocationPolicy": "Never"}
        given = {**rules, "mutations": list(map(_mutation, mutations)), **spec}
        await self(f"POST {_GROUP}/mutatingadmissionpolicies", {"metadata": {"name": name}, "spec": given})
        bound = {"policyName": name, **binding}
        await self(f"POST {_GROUP}/mutatingadmissionpolicybindings", {"metadata": {"name": name}, "spec": bound})
        await self.settle()

    async def make(self, name: str = "a", query: str = "", code: int = 0, *, user: UserInfo = ADMIN, **more: Any) -> Any:
        body = {"metadata": {"name": name, **more.pop("metadata", {})}, **more}
        return await self(f"POST /api/v1/namespaces/default/configmaps{query}", body, code=code, user=user)


def _validation(given: Any) -> Any:
    return {"expression": given} if isinstance(given, str) else given


def _mutation(text: str) -> dict[str, Any]:
    if text.lstrip().startswith("Object"):
        return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": text}}
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": text}}


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    clock = RealClock()
    store = memory_store(clock)
    await store.open()
    pipeline = make_pipeline(store, clock, address=lambda: "127.0.0.1:6443")
    client = Client(InProcessTransport(pipeline, Request, ADMIN), user_agent="test", clock=clock)
    await bootstrap.ensure(client, service_address="10.96.0.1", port=6443)
    async with Tasks("test") as tasks:
        for follower in pipeline.followers:
            await follower.load()
            tasks.start("follower", follower.run())
        yield Api(pipeline)
        tasks.stop()
    await pipeline.close()
    await store.close()
