"""Requests of the server to itself, about APIServices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.request import Request

if TYPE_CHECKING:
    from setpoint.apiserver.pipeline import Pipeline

_PATH = "/apis/apiregistration.k8s.io/v1/apiservices"
_USER = UserInfo("system:apiserver", groups=("system:masters", "system:authenticated"))
_AGENT = {"user-agent": "kube-apiserver", "content-type": "application/json"}


class OwnRequests:
    """Writes APIServices. Every method raises StatusError."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    async def create(self, body: Mapping[str, Any]) -> None:
        await self._send("POST", _PATH, body)

    async def replace(self, body: Mapping[str, Any]) -> None:
        await self._send("PUT", f"{_PATH}/{body['metadata']['name']}", body)

    async def replace_status(self, body: Mapping[str, Any]) -> None:
        await self._send("PUT", f"{_PATH}/{body['metadata']['name']}/status", body)

    async def delete(self, name: str) -> None:
        await self._send("DELETE", f"{_PATH}/{name}")

    async def _send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> None:
        content = b"" if body is None else orjson.dumps(body)
        response = await self._pipeline.handle(Request(method, path, {}, _AGENT, content, _USER))
        if response.status >= 400:
            answer = orjson.loads(response.body or b"{}")
            raise StatusError.parse(answer)
