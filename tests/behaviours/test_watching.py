"""Watches, versions and pages as clients rely on them."""

from __future__ import annotations

from typing import Any

import pytest

CONFIGMAPS = "/api/v1/namespaces/ns1/configmaps"
STREAMING = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"


async def make(api: Any, name: str, **labels: str) -> Any:
    return await api.make(CONFIGMAPS, name, metadata={"labels": labels})


async def test_a_forgotten_version_is_200_with_one_error_and_the_end(api: Any) -> None:
    first = await make(api, "a")
    await make(api, "b")
    await api.store.compact(api.store.revision)
    seen = await api.watch(f"{CONFIGMAPS}?watch=1&resourceVersion={first['metadata']['resourceVersion']}")
    assert seen.response.status == 200
    (event,) = await seen.rest()
    assert event["type"] == "ERROR"
    assert event["object"]["kind"] == "Status"
    assert (event["object"]["status"], event["object"]["reason"], event["object"]["code"]) == ("Failure", "Expired", 410)
    assert event["object"]["metadata"] == {}


@pytest.mark.parametrize("names", [[], ["a", "b"]])
async def test_a_streaming_list_ends_with_a_marked_bookmark(api: Any, names: list[str]) -> None:
    for name in names:
        await make(api, name)
    seen = await api.watch(f"{CONFIGMAPS}?{STREAMING}&allowWatchBookmarks=true")
    assert sorted(await seen.take(len(names))) == [("ADDED", name) for name in names]
    bookmark = await seen.next()
    assert (bookmark["type"], bookmark["object"]["apiVersion"], bookmark["object"]["kind"]) == ("BOOKMARK", "v1", "ConfigMap")
    assert bookmark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert int(bookmark["object"]["metadata"]["resourceVersion"]) > 0
    await make(api, "later")
    assert await seen.take(1) == [("ADDED", "later")]
    await api.clock.advance(61)
    later = await seen.next()
    assert later["type"] == "BOOKMARK"
    assert "annotations" not in later["object"]["metadata"]


async def test_no_bookmark_where_none_was_asked_for(api: Any) -> None:
    await make(api, "a")
    seen = await api.watch(f"{CONFIGMAPS}?{STREAMING}&timeoutSeconds=100")
    assert await seen.take(1) == [("ADDED", "a")]
    await make(api, "b")
    assert await seen.take(1) == [("ADDED", "b")]


async def test_a_streaming_list_needs_the_rule_for_its_version(api: Any) -> None:
    for query in ("watch=1&sendInitialEvents=true", "sendInitialEvents=true", "watch=1&resourceVersionMatch=NotOlderThan"):
        refused = await api(f"GET {CONFIGMAPS}?{query}", code=422)
        assert refused["reason"] == "Invalid"


async def test_the_version_of_a_deletion_can_be_resumed_from(api: Any) -> None:
    for name in ("a", "b", "c"):
        last = await make(api, name)
    listed = await api.version(CONFIGMAPS)
    seen = await api.watch(f"{CONFIGMAPS}?watch=1&resourceVersion={listed}")
    await api(f"DELETE {CONFIGMAPS}/a")
    event = await seen.next()
    version = event["object"]["metadata"]["resourceVersion"]
    assert int(version) > int(last["metadata"]["resourceVersion"])
    again = await api.watch(f"{CONFIGMAPS}?watch=1&resourceVersion={version}")
    await make(api, "d")
    assert await again.take(1) == [("ADDED", "d")]


async def test_a_field_selector_that_is_left_is_a_deletion(api: Any) -> None:
    pods = "/api/v1/namespaces/ns1/pods"
    made = await api.make(pods, "p", spec={"nodeName": "n", "containers": [{"name": "c", "image": "i"}]})
    seen = await api.watch(f"{pods}?watch=1&fieldSelector=status.phase=Pending&resourceVersion=0")
    assert await seen.take(1) == [("ADDED", "p")]
    ran = await api.merge(f"{pods}/p/status", {"status": {"phase": "Running"}})
    event = await seen.next()
    assert event["type"] == "DELETED"
    assert event["object"]["status"]["phase"] == "Pending"
    assert event["object"]["metadata"]["resourceVersion"] == ran["metadata"]["resourceVersion"]
    assert event["object"]["metadata"]["uid"] == made["metadata"]["uid"]
    await api.merge(f"{pods}/p/status", {"status": {"phase": "Pending"}})
    assert await seen.take(1) == [("ADDED", "p")]


@pytest.mark.parametrize("query", ["watch=1", "watch=1&resourceVersion=0"])
async def test_without_a_version_the_state_comes_first(api: Any, query: str) -> None:
    made = {name: (await make(api, name))["metadata"]["resourceVersion"] for name in ("a", "b")}
    seen = await api.watch(f"{CONFIGMAPS}?{query}")
    first = [await seen.next(), await seen.next()]
    assert {event["object"]["metadata"]["name"]: event["object"]["metadata"]["resourceVersion"] for event in first} == made
    await make(api, "c")
    assert await seen.take(1) == [("ADDED", "c")]


async def test_with_the_version_of_a_list_nothing_is_repeated(api: Any) -> None:
    await make(api, "a")
    seen = await api.watch(f"{CONFIGMAPS}?watch=1&resourceVersion={await api.version(CONFIGMAPS)}")
    await make(api, "b")
    assert await seen.take(1) == [("ADDED", "b")]


async def test_the_version_of_a_list_is_the_collections(api: Any) -> None:
    empty = await api(f"GET {CONFIGMAPS}")
    assert empty["items"] == []
    assert isinstance(empty["metadata"]["resourceVersion"], str)
    assert int(empty["metadata"]["resourceVersion"]) > 0
    old = await make(api, "old")
    for number in range(5):
        await api.make("/api/v1/namespaces/default/configmaps", f"other{number}")
    listed = (await api(f"GET {CONFIGMAPS}"))["metadata"]["resourceVersion"]
    assert int(listed) >= int(old["metadata"]["resourceVersion"]) + 5
    seen = await api.watch(f"{CONFIGMAPS}?watch=1&resourceVersion={listed}")
    made = await make(api, "new")
    event = await seen.next()
    assert event["type"] == "ADDED"
    assert event["object"]["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    assert int(made["metadata"]["resourceVersion"]) > int(listed)


async def test_remaining_items_are_not_counted_under_a_selector(api: Any) -> None:
    for number in range(5):
        await make(api, f"m{number}", app="x")
    page = await api(f"GET {CONFIGMAPS}?limit=3&labelSelector=app=x")
    assert "remainingItemCount" not in page["metadata"]
    assert len(page["items"]) == 3
    token = page["metadata"]["continue"]
    last = await api(f"GET {CONFIGMAPS}?limit=3&labelSelector=app=x&continue={token}")
    assert [item["metadata"]["name"] for item in last["items"]] == ["m3", "m4"]
    assert last["metadata"]["resourceVersion"] == page["metadata"]["resourceVersion"]
    assert not last["metadata"].get("continue")
    assert "remainingItemCount" not in last["metadata"]


async def test_a_page_with_a_version_beside_its_token_is_refused(api: Any) -> None:
    for number in range(3):
        await make(api, f"m{number}")
    token = (await api(f"GET {CONFIGMAPS}?limit=1"))["metadata"]["continue"]
    await api(f"GET {CONFIGMAPS}?limit=1&continue={token}&resourceVersion=1", code=400)
    assert len((await api(f"GET {CONFIGMAPS}?limit=1&continue={token}&resourceVersion=0"))["items"]) == 1
