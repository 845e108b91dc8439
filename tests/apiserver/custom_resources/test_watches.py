"""Watches of kinds that come, change and go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import orjson
import pytest
from tests.apiserver.custom_resources.widgets import ANYTHING, CRDS, WIDGETS, Server, typed


async def _watched(server: Server) -> AsyncIterator[bytes]:
    stream = (await server.ask("GET", f"{WIDGETS}?watch=1")).stream
    assert stream is not None
    return stream


async def test_watches_end_with_the_definition(server: Server) -> None:
    await server.define()
    await server.make()
    stream = await _watched(server)
    assert b'"ADDED"' in await anext(stream)
    await server.ask("DELETE", f"{CRDS}/widgets.demo.test")
    await server.cluster.clock.advance(2)
    assert b'"DELETED"' in await asyncio.wait_for(anext(stream), 2)
    with pytest.raises(StopAsyncIteration):
        await asyncio.wait_for(anext(stream), 2)


async def test_a_watch_from_before_the_definition_is_too_old(server: Server) -> None:
    await server.define()
    since = (await server.json("GET", f"{CRDS}/widgets.demo.test"))["metadata"]["resourceVersion"]
    stream = (await server.ask("GET", f"{WIDGETS}?watch=1&resourceVersion=1")).stream
    assert stream is not None
    error = orjson.loads(await anext(stream))["object"]
    assert (error["code"], error["message"]) == (410, f"too old resource version: 1 ({since})")
    await server.make()
    stream = (await server.ask("GET", f"{WIDGETS}?watch=1&resourceVersion={since}")).stream
    assert stream is not None
    assert b'"ADDED"' in await anext(stream)


async def test_watches_end_when_the_schema_changes_and_not_with_labels(server: Server) -> None:
    await server.define(typed(n={"type": "integer"}))
    await server.make()
    stream = await _watched(server)
    await anext(stream)
    waiting = asyncio.ensure_future(anext(stream))
    merge = "application/merge-patch+json"
    definition = f"{CRDS}/widgets.demo.test"
    await server.ask("PATCH", definition, {"metadata": {"labels": {"a": "b"}}}, content_type=merge)
    await server.cluster.clock.advance(1)
    assert not waiting.done()
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": ANYTHING}}
    await server.ask("PATCH", definition, {"spec": {"versions": [version]}}, content_type=merge)
    await server.cluster.clock.advance(1)
    with pytest.raises(StopAsyncIteration):
        await asyncio.wait_for(waiting, 2)
