from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import orjson
import pytest
from aiohttp import web

from setpoint.api.types.core_v1 import PODS
from setpoint.client.client import Client
from setpoint.client.kubeconfig import Access
from setpoint.client.transport import TransportError
from setpoint.client.transports.http import HttpTransport
from setpoint.kit.clock import RealClock

POD = {"metadata": {"name": "a", "namespace": "ns", "resourceVersion": "5"}}


async def serve(request: web.Request) -> web.StreamResponse:
    if request.query.get("watch"):
        stream = web.StreamResponse()
        await stream.prepare(request)
        for _ in range(2):
            await stream.write(orjson.dumps({"type": "ADDED", "object": POD}) + b"\n")
        return stream
    if request.path.endswith("/echo"):
        seen = {"query": dict(request.query), "authorization": request.headers.get("Authorization", "")}
        return web.json_response({"metadata": {"name": "echo", "annotations": {"seen": orjson.dumps(seen).decode()}}})
    return web.json_response({"metadata": {"resourceVersion": "9"}, "items": [POD]})


@asynccontextmanager
async def running() -> AsyncIterator[tuple[Client, HttpTransport]]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", serve)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    transport = HttpTransport(Access(f"http://127.0.0.1:{port}", token="secret"))
    try:
        yield Client(transport, user_agent="tester/1.0", clock=RealClock()), transport
    finally:
        await transport.close()
        await runner.cleanup()


async def test_lists_and_watches() -> None:
    async with running() as (client, _):
        page = await client.list(PODS, "ns", label_selector="a in (b, c),d")
        assert [pod.metadata.name for pod in page.items] == ["a"]
        seen = 0
        async with aclosing(client.watch(PODS, resource_version="9")) as events:
            async for batch in events:
                seen += len(batch)
        assert seen == 2


async def test_queries_are_encoded_and_the_token_sent() -> None:
    async with running() as (client, _):
        answer = await client.raw("GET", "/echo", query={"labelSelector": "a in (b,c)", "fieldSelector": "x=y+z&w"})
        seen = orjson.loads(answer["metadata"]["annotations"]["seen"])
        assert seen == {
            "query": {"labelSelector": "a in (b,c)", "fieldSelector": "x=y+z&w"},
            "authorization": "Bearer secret",
        }


async def test_a_server_that_is_not_there_is_a_transport_error() -> None:
    transport = HttpTransport(Access("http://127.0.0.1:1"))
    with pytest.raises(TransportError):
        await Client(transport, user_agent="tester/1.0", clock=RealClock()).list(PODS)
    await transport.close()
    await asyncio.sleep(0)


async def test_a_call_made_while_the_connections_are_made_anew_is_not_lost() -> None:
    """Closing takes a moment; what is begun in it must be neither forgotten nor closed."""
    async with running() as (client, transport):
        await client.list(PODS)
        async with aclosing(client.watch(PODS, resource_version="9")) as events:
            await anext(events)
        former, kept = transport._session, transport._kept
        assert former is not None
        original = former.close

        async def slowly() -> None:
            await asyncio.sleep(0)
            await client.list(PODS)
            await original()

        former.close = slowly  # type: ignore[method-assign]  # a double
        await transport.renew()
        assert former.closed
        assert transport._kept not in {None, kept}
        await client.list(PODS)
