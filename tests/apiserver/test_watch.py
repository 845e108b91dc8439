from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import orjson
import pytest

CONFIGMAPS = "/api/v1/namespaces/ns1/configmaps"


class Watching:
    """Reads a watch event by event, on virtual time."""

    def __init__(self, api: Any, stream: AsyncGenerator[bytes, None]) -> None:
        self.api = api
        self.stream = stream
        self.events: list[Any] = []

    async def next(self) -> Any:
        if not self.events:
            piece = await asyncio.wait_for(anext(self.stream), 2)
            self.events = [orjson.loads(line) for line in piece.splitlines()]
        return self.events.pop(0)

    async def take(self, count: int) -> list[tuple[str, str]]:
        events = [await self.next() for _ in range(count)]
        return [(event["type"], event["object"]["metadata"]["name"]) for event in events]


async def watch(api: Any, query: str) -> Watching:
    response = await api.respond(f"GET {CONFIGMAPS}?watch=1&{query}")
    assert response.status == 200, response.body
    return Watching(api, response.stream)


async def make(api: Any, name: str, **labels: str) -> Any:
    return await api(f"POST {CONFIGMAPS}", {"metadata": {"name": name, "labels": labels}})


async def test_a_watch_without_a_version_starts_with_the_state(api: Any) -> None:
    await make(api, "a")
    await make(api, "b")
    seen = await watch(api, "")
    assert await seen.take(2) == [("ADDED", "a"), ("ADDED", "b")]
    await make(api, "c")
    assert await seen.take(1) == [("ADDED", "c")]
    await seen.stream.aclose()


async def test_leaving_a_selector_is_deleted_and_entering_it_added(api: Any) -> None:
    made = await make(api, "m", tier="x")
    seen = await watch(api, f"labelSelector=tier=x&resourceVersion={made['metadata']['resourceVersion']}")
    changed = await api.merge(f"{CONFIGMAPS}/m", {"metadata": {"labels": {"tier": "y"}}})
    event = await seen.next()
    assert event["type"] == "DELETED"
    assert event["object"]["metadata"]["labels"] == {"tier": "x"}
    assert event["object"]["metadata"]["resourceVersion"] == changed["metadata"]["resourceVersion"]
    await api.merge(f"{CONFIGMAPS}/m", {"metadata": {"labels": {"tier": "x"}}})
    assert await seen.take(1) == [("ADDED", "m")]
    await seen.stream.aclose()


async def test_a_deletion_has_a_version_of_its_own(api: Any) -> None:
    await make(api, "a")
    last = await make(api, "c")
    version = last["metadata"]["resourceVersion"]
    seen = await watch(api, f"resourceVersion={version}")
    await api(f"DELETE {CONFIGMAPS}/a")
    event = await seen.next()
    assert (event["type"], event["object"]["metadata"]["name"]) == ("DELETED", "a")
    assert int(event["object"]["metadata"]["resourceVersion"]) > int(version)
    await seen.stream.aclose()


async def test_a_streaming_list_ends_with_the_annotated_bookmark(api: Any) -> None:
    await make(api, "a")
    query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    seen = await watch(api, query)
    assert await seen.take(1) == [("ADDED", "a")]
    bookmark = await seen.next()
    assert bookmark["type"] == "BOOKMARK"
    assert bookmark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert bookmark["object"]["kind"] == "ConfigMap"
    await seen.stream.aclose()


@pytest.mark.parametrize(
    ("plural", "cells"), [("configmaps", ["", 0, "<unknown>"]), ("limitranges", ["", "0001-01-01T00:00:00Z"])]
)
async def test_a_bookmark_in_a_table_is_a_row_of_nothing(api: Any, plural: str, cells: list[Any]) -> None:
    path, accept = f"/api/v1/namespaces/ns1/{plural}", "application/json;as=Table;v=v1;g=meta.k8s.io"
    query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    response = await api.respond(f"GET {path}?{query}", accept=accept)
    table = orjson.loads(await anext(aiter(response.stream)))["object"]
    await response.stream.aclose()
    version = table["metadata"]["resourceVersion"]
    metadata = {"resourceVersion": version, "annotations": {"k8s.io/initial-events-end": "true"}}
    shown = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}
    assert table["metadata"] == {"resourceVersion": version}
    assert table["rows"] == [{"cells": cells, "object": shown}]
    assert table["columnDefinitions"][0]["name"] == "Name"


async def test_an_expired_watch_is_one_error_event(api: Any) -> None:
    first = await make(api, "a")
    last = await make(api, "b")
    await api.store.compact(int(last["metadata"]["resourceVersion"]))
    seen = await watch(api, f"resourceVersion={first['metadata']['resourceVersion']}")
    event = await seen.next()
    assert event["type"] == "ERROR"
    assert event["object"]["reason"] == "Expired"
    assert [piece async for piece in seen.stream] == []
    refused = await api(
        f"GET {CONFIGMAPS}?resourceVersionMatch=Exact&resourceVersion={first['metadata']['resourceVersion']}", code=410
    )
    assert refused["reason"] == "Expired"


async def test_bookmarks_come_every_minute_and_the_watch_ends_in_time(api: Any) -> None:
    made = await make(api, "a")
    version = made["metadata"]["resourceVersion"]
    seen = await watch(api, f"resourceVersion={version}&allowWatchBookmarks=true&timeoutSeconds=90")
    events: list[Any] = []

    async def read() -> None:
        async for piece in seen.stream:
            events.extend(orjson.loads(line) for line in piece.splitlines())

    task = asyncio.ensure_future(read())
    await api.clock.advance(61)
    assert [event["type"] for event in events] == ["BOOKMARK"]
    await api.clock.advance(28)
    assert [event["type"] for event in events] == ["BOOKMARK", "BOOKMARK"]
    await api.clock.advance(2)
    assert task.done()


async def test_a_watch_that_always_has_something_to_send_ends_in_time_too(api: Any) -> None:
    made = await make(api, "m")
    seen = await watch(api, f"timeoutSeconds=10&resourceVersion={made['metadata']['resourceVersion']}")
    sent = 0
    await api.merge(f"{CONFIGMAPS}/m", {"data": {"n": "0"}})
    async for _ in seen.stream:
        sent += 1
        assert sent < 30
        await api.merge(f"{CONFIGMAPS}/m", {"data": {"n": str(sent)}})
        await api.clock.advance(1)
    assert 8 <= sent <= 13


async def test_pages_are_of_one_version_and_count_what_remains(api: Any) -> None:
    for index in range(7):
        await make(api, f"m{index}")
    first = await api(f"GET {CONFIGMAPS}?limit=3")
    assert first["metadata"]["remainingItemCount"] == 4
    await api(f"DELETE {CONFIGMAPS}/m4")
    second = await api(f"GET {CONFIGMAPS}?limit=3&continue={first['metadata']['continue']}")
    assert [item["metadata"]["name"] for item in second["items"]] == ["m3", "m4", "m5"]
    assert second["metadata"]["remainingItemCount"] == 1
    await make(api, "later")
    await api.store.compact(api.store.revision)
    lost = await api(f"GET {CONFIGMAPS}?limit=3&continue={second['metadata']['continue']}", code=410)
    rest = await api(f"GET {CONFIGMAPS}?limit=3&continue={lost['metadata']['continue']}")
    assert [item["metadata"]["name"] for item in rest["items"]] == ["m6"]
    await api(f"GET {CONFIGMAPS}?continue=!!", code=400)


async def test_each_table_watch_has_the_rows_it_asked_for(api: Any) -> None:
    accept = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    answers = [await api.respond(f"GET {CONFIGMAPS}?watch=1&includeObject={what}", **accept) for what in ("Object", "None", "")]
    watches = [Watching(api, answer.stream) for answer in answers]
    await make(api, "first")
    for each in watches:
        await each.next()
    await make(api, "second")
    whole, nothing, metadata = [(await each.next())["object"]["rows"][0]["object"] for each in watches]
    assert (whole["kind"], nothing, metadata["kind"]) == ("ConfigMap", None, "PartialObjectMetadata")
