"""A kind of one's own, and plain requests about it."""

from __future__ import annotations

from typing import Any

import orjson

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.request import Request, Response
from setpoint.testing.cluster import VirtualCluster

USER = UserInfo("admin", groups=("system:masters", "system:authenticated"))
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/demo.test/v1/namespaces/default/widgets"
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


class Server:
    """Plain requests to the pipeline of a virtual cluster."""

    def __init__(self, cluster: VirtualCluster) -> None:
        self.cluster = cluster

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Response:
        path, _, text = path.partition("?")
        query = {name: [value] for name, _, value in (part.partition("=") for part in text.split("&"))} if text else {}
        sent = {"content-type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
        content = b"" if body is None else orjson.dumps(body)
        pipeline = self.cluster._server.pipeline
        return await pipeline.handle(Request(method, path, query, sent, content, USER))

    async def json(self, method: str, path: str, body: Any = None, **headers: str) -> dict[str, Any]:
        found: dict[str, Any] = orjson.loads((await self.ask(method, path, body, **headers)).body or b"null")
        return found

    async def define(self, schema: dict[str, Any] | None = None, **version: Any) -> None:
        """Define Widget and wait until it is served."""
        one = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema or ANYTHING}, **version}
        spec = {
            "group": "demo.test",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [one],
        }
        await self.ask("POST", CRDS, {"metadata": {"name": "widgets.demo.test"}, "spec": spec})
        await self.cluster.clock.advance(1)

    async def make(self, name: str = "a", **fields: Any) -> dict[str, Any]:
        body = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": name}, **fields}
        return await self.json("POST", WIDGETS, body)


def typed(**spec: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}, "status": ANYTHING}}
