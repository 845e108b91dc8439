from __future__ import annotations

from typing import Any

import pytest

NAME = "garbage-collector-controller"
PATH = "/api/v1/namespaces/ns/configmaps"


@pytest.fixture
async def gc(world: Any) -> Any:
    await world.namespace("ns")
    await world.run(NAME)
    return world


async def make(world: Any, name: str, *owners: Any, block: bool = False, **metadata: Any) -> Any:
    refs = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            **({"blockOwnerDeletion": True} if block else {}),
        }
        for owner in owners
    ]
    return await world.call("POST", PATH, {"metadata": {"name": name, "ownerReferences": refs, **metadata}})


async def delete(world: Any, name: str, policy: str = "") -> Any:
    return await world.call("DELETE", f"{PATH}/{name}", {"propagationPolicy": policy} if policy else None)


async def left(world: Any) -> list[str]:
    await world.clock.advance(2)
    return sorted(await world.names(PATH))


async def refs(world: Any, name: str) -> list[str]:
    return [ref["name"] for ref in (await world.get(f"{PATH}/{name}"))["metadata"].get("ownerReferences", ())]


async def test_background_cascades_through_several_levels(gc: Any) -> None:
    boss = await make(gc, "boss")
    mid = await make(gc, "mid", boss)
    await make(gc, "leaf", mid)
    assert await left(gc) == ["boss", "leaf", "mid"]
    await delete(gc, "boss")
    assert await left(gc) == []
    assert gc.manager.activity().settled


async def test_an_owner_that_never_was_and_one_with_another_uid_count_as_missing(gc: Any) -> None:
    boss = await make(gc, "boss")
    await make(gc, "a", {"metadata": {"name": "nobody", "uid": "11111111-0000-0000-0000-000000000000"}})
    await make(gc, "b", {"metadata": {"name": "boss", "uid": "22222222-0000-0000-0000-000000000000"}})
    await make(gc, "c", boss)
    assert await left(gc) == ["boss", "c"]


async def test_with_one_owner_left_only_the_dangling_reference_goes(gc: Any) -> None:
    boss, other = await make(gc, "boss"), await make(gc, "other")
    await make(gc, "dep", boss, other)
    await delete(gc, "boss")
    assert await left(gc) == ["dep", "other"]
    assert await refs(gc, "dep") == ["other"]


async def test_orphan_frees_the_dependents(gc: Any) -> None:
    boss = await make(gc, "boss")
    await make(gc, "dep", boss)
    await delete(gc, "boss", "Orphan")
    assert await left(gc) == ["dep"]
    assert await refs(gc, "dep") == []


async def test_foreground_keeps_the_owner_until_a_blocking_dependent_is_gone(gc: Any) -> None:
    boss = await make(gc, "boss")
    mid = await make(gc, "mid", boss, block=True, finalizers=["x.example/hold"])
    await make(gc, "leaf", mid, block=True)
    await delete(gc, "boss", "Foreground")
    assert await left(gc) == ["boss", "mid"]
    await gc.merge(f"{PATH}/mid", {"metadata": {"finalizers": None}})
    assert await left(gc) == []


async def test_foreground_does_not_wait_for_others(gc: Any) -> None:
    boss = await make(gc, "boss")
    await make(gc, "dep", boss, finalizers=["x.example/hold"])
    await delete(gc, "boss", "Foreground")
    assert await left(gc) == ["dep"]


async def test_an_owner_of_an_unknown_kind_keeps_the_dependent(gc: Any) -> None:
    ref = {"apiVersion": "example.com/v1", "kind": "Widget", "name": "w", "uid": "33333333-0000-0000-0000-000000000000"}
    await gc.call("POST", PATH, {"metadata": {"name": "dep", "ownerReferences": [ref]}})
    await gc.clock.advance(120)
    assert await left(gc) == ["dep"]
    assert gc.manager.activity().settled


async def test_a_circle_deleted_in_the_foreground_goes(gc: Any) -> None:
    one = await make(gc, "one")
    two = await make(gc, "two", one, block=True)
    ref = {"apiVersion": "v1", "kind": "ConfigMap", "name": "two", "uid": two["metadata"]["uid"], "blockOwnerDeletion": True}
    await gc.merge(f"{PATH}/one", {"metadata": {"ownerReferences": [ref]}})
    await delete(gc, "one", "Foreground")
    assert await left(gc) == []


async def test_a_cluster_wide_object_with_a_namespaced_owner_is_left_alone(gc: Any) -> None:
    ref = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "44444444-0000-0000-0000-000000000000"}
    await gc.call("POST", "/api/v1/namespaces", {"metadata": {"name": "kept", "ownerReferences": [ref]}})
    await gc.clock.advance(60)
    assert (await gc.get("/api/v1/namespaces/kept"))["metadata"].get("deletionTimestamp") is None


async def test_what_was_ownerless_when_it_started_is_found(world: Any) -> None:
    await world.namespace("ns")
    boss = await make(world, "boss")
    await make(world, "dep", boss)
    await make(world, "lost", {"metadata": {"name": "nobody", "uid": "55555555-0000-0000-0000-000000000000"}})
    await world.run(NAME)
    assert await left(world) == ["boss", "dep"]


async def test_an_owner_of_another_namespace_counts_as_missing_and_that_is_told(gc: Any) -> None:
    await gc.namespace("other")
    boss = await gc.call("POST", "/api/v1/namespaces/other/configmaps", {"metadata": {"name": "boss"}})
    uid = boss["metadata"]["uid"]
    await gc.clock.advance(1)
    await make(gc, "dep", boss)
    assert await left(gc) == []
    events = (await gc.call("GET", "/api/v1/namespaces/ns/events"))["items"]
    what = f"[v1/ConfigMap, namespace: ns, name: boss, uid: {uid}]"
    assert {(each["reason"], each["message"]) for each in events} == {
        ("OwnerRefInvalidNamespace", f'ownerRef {what} does not exist in namespace "ns"')
    }
