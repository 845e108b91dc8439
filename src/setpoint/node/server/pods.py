"""`/pods`: the pods of this node as its agent sees them."""

from __future__ import annotations

import msgspec
import orjson
from aiohttp import web

from setpoint.node.server.keys import AGENT


async def serve(request: web.Request) -> web.Response:
    items = []
    for worker in request.app[AGENT].pods():
        pod = msgspec.to_builtins(worker.core.pod)
        items.append({**pod, "status": worker.core.status()})
    body = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items}
    return web.Response(body=orjson.dumps(body), content_type="application/json")
