from __future__ import annotations

from typing import Any

CONFIGMAPS = "/api/v1/namespaces/ns1/configmaps"


async def make(api: Any, name: str, **metadata: Any) -> Any:
    return await api(f"POST {CONFIGMAPS}", {"metadata": {"name": name, **metadata}})


async def test_finalizers_hold_an_object_until_the_last_is_gone(api: Any) -> None:
    await make(api, "m", finalizers=["x.io/a", "x.io/b"])
    marked = await api(f"DELETE {CONFIGMAPS}/m")
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 0
    refused = await api.merge(f"{CONFIGMAPS}/m", {"metadata": {"finalizers": ["x.io/a", "x.io/b", "x.io/c"]}}, code=422)
    assert refused["details"]["causes"][0]["field"] == "metadata.finalizers"
    assert refused["details"]["causes"][0]["reason"] == "FieldValueForbidden"
    await api.merge(f"{CONFIGMAPS}/m", {"metadata": {"finalizers": ["x.io/a"]}})
    changed = await api.merge(f"{CONFIGMAPS}/m", {"data": {"k": "v"}})
    assert await api(f"DELETE {CONFIGMAPS}/m") == changed
    await api(f"POST {CONFIGMAPS}", {"metadata": {"name": "m"}}, code=409)
    kept = await api.merge(f"{CONFIGMAPS}/m", {"metadata": {"deletionTimestamp": None}})
    assert kept["metadata"]["deletionTimestamp"] == marked["metadata"]["deletionTimestamp"]
    await api.merge(f"{CONFIGMAPS}/m", {"metadata": {"finalizers": []}})
    await api(f"GET {CONFIGMAPS}/m", code=404)


async def test_preconditions_protect_an_object_of_the_same_name(api: Any) -> None:
    first = await make(api, "m")
    await api(f"DELETE {CONFIGMAPS}/m")
    second = await make(api, "m")
    await api(f"DELETE {CONFIGMAPS}/m", {"preconditions": {"uid": first["metadata"]["uid"]}}, code=409)
    stale = {"preconditions": {"resourceVersion": first["metadata"]["resourceVersion"]}}
    await api(f"DELETE {CONFIGMAPS}/m", stale, code=409)
    assert await api(f"GET {CONFIGMAPS}/m") == second
    await api(f"DELETE {CONFIGMAPS}/m", {"preconditions": {"uid": second["metadata"]["uid"]}})


async def test_the_precondition_of_a_namespace_has_words_of_its_own(api: Any) -> None:
    await api("POST /api/v1/namespaces", {"metadata": {"name": "kept"}})
    refused = await api("DELETE /api/v1/namespaces/kept", {"preconditions": {"uid": "x"}}, code=409)
    assert refused["details"] == {"name": "kept", "kind": "namespaces"}
    assert "Precondition failed: UID in precondition: x, UID in object meta: " in refused["message"]


async def test_foreground_and_orphan_put_their_finalizers_on(api: Any) -> None:
    await make(api, "a")
    await make(api, "b")
    foreground = await api(f"DELETE {CONFIGMAPS}/a?propagationPolicy=Foreground")
    assert foreground["metadata"]["finalizers"] == ["foregroundDeletion"]
    orphan = await api(f"DELETE {CONFIGMAPS}/b", {"propagationPolicy": "Orphan"})
    assert orphan["metadata"]["finalizers"] == ["orphan"]
    await api(f"DELETE {CONFIGMAPS}/b?propagationPolicy=Sideways", code=422)


async def test_a_collection_is_deleted_by_selector_and_answers_a_list(api: Any) -> None:
    for name, label in (("a", "x"), ("b", "x"), ("c", "y")):
        await make(api, name, labels={"app": label})
    tried = await api(f"DELETE {CONFIGMAPS}?labelSelector=app=x&dryRun=All")
    assert [item["metadata"]["name"] for item in tried["items"]] == ["a", "b"]
    gone = await api(f"DELETE {CONFIGMAPS}?labelSelector=app=x")
    assert gone["kind"] == "ConfigMapList"
    assert [item["metadata"]["name"] for item in gone["items"]] == ["a", "b"]
    assert (await api(f"DELETE {CONFIGMAPS}?labelSelector=app=x"))["items"] == []
    left = await api(f"GET {CONFIGMAPS}")
    assert [item["metadata"]["name"] for item in left["items"]] == ["c"]


async def test_dry_run_stores_nothing_on_any_verb(api: Any) -> None:
    await api(f"POST {CONFIGMAPS}?dryRun=All", {"metadata": {"name": "a"}})
    await api(f"GET {CONFIGMAPS}/a", code=404)
    made = await make(api, "a")
    changed = await api(f"PUT {CONFIGMAPS}/a?dryRun=All", made | {"data": {"k": "v"}})
    assert changed["data"] == {"k": "v"}
    await api(f"DELETE {CONFIGMAPS}/a?dryRun=All")
    assert await api(f"GET {CONFIGMAPS}/a") == made
    await api(f"DELETE {CONFIGMAPS}/a?dryRun=Some", code=422)
