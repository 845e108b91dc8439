"""Grace, preconditions, collections: what a DELETE does at once and what it leaves to others."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

CONFIGMAPS = "/api/v1/namespaces/ns1/configmaps"
PODS = "/api/v1/namespaces/ns1/pods"


async def make_pod(api: Any, name: str, *, node: str = "", phase: str = "", finalizers: tuple[str, ...] = ()) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}], **({"nodeName": node} if node else {})}
    await api.make(PODS, name, metadata={"finalizers": list(finalizers)}, spec=spec)
    if phase:
        await api.merge(f"{PODS}/{name}/status", {"status": {"phase": phase}})


async def delete(api: Any, name: str, seconds: int | None = None) -> Any:
    return await api(f"DELETE {PODS}/{name}", None if seconds is None else {"gracePeriodSeconds": seconds})


def marked(api: Any, pod: Any) -> tuple[float, int]:
    """Seconds from now to the deletion timestamp, and the grace period."""
    stamp = datetime.fromisoformat(pod["metadata"]["deletionTimestamp"]).timestamp()
    return round(stamp - api.clock.now()), pod["metadata"]["deletionGracePeriodSeconds"]


async def test_a_running_pod_ends_within_its_grace(api: Any) -> None:
    await make_pod(api, "p", node="n", phase="Running")
    first = await delete(api, "p")
    assert first["kind"] == "Pod"
    assert marked(api, first) == (30, 30)
    assert first["status"]["phase"] == "Running"
    assert [item["metadata"]["name"] for item in (await api(f"GET {PODS}"))["items"]] == ["p"]
    assert marked(api, await delete(api, "p", 5)) == (5, 5)
    assert marked(api, await delete(api, "p", 60)) == (5, 5)
    await delete(api, "p", 0)
    await api(f"GET {PODS}/p", code=404)


@pytest.mark.parametrize(("node", "phase"), [("", "Pending"), ("n", "Succeeded"), ("n", "Failed")])
async def test_a_pod_that_no_node_runs_vanishes_at_once(api: Any, node: str, phase: str) -> None:
    await make_pod(api, "p", node=node, phase=phase)
    await delete(api, "p")
    await api(f"GET {PODS}/p", code=404)


async def test_a_finalizer_outlives_the_grace(api: Any) -> None:
    await make_pod(api, "p", node="n", phase="Running", finalizers=("x.io/a",))
    held = await delete(api, "p", 0)
    assert held["metadata"]["deletionGracePeriodSeconds"] == 0
    assert (await api(f"GET {PODS}/p"))["metadata"]["finalizers"] == ["x.io/a"]
    await api.merge(f"{PODS}/p", {"metadata": {"finalizers": []}})
    await api(f"GET {PODS}/p", code=404)


async def test_a_negative_grace_is_one_second(api: Any) -> None:
    await make_pod(api, "p", node="n", phase="Running")
    assert marked(api, await delete(api, "p", -5)) == (1, 1)


async def test_preconditions_hold_for_what_has_finalizers_and_for_namespaces(api: Any) -> None:
    await api.make(CONFIGMAPS, "m", metadata={"finalizers": ["x.io/a"]})
    namespace = await api("GET /api/v1/namespaces/ns1")
    for path in (f"{CONFIGMAPS}/m", "/api/v1/namespaces/ns1"):
        before = await api(f"GET {path}")
        for wrong in ({"uid": "00000000-0000-0000-0000-000000000000"}, {"resourceVersion": "1"}):
            refused = await api(f"DELETE {path}", {"preconditions": wrong}, code=409)
            assert refused["reason"] == "Conflict"
        assert await api(f"GET {path}") == before
    await api("DELETE /api/v1/namespaces/ns1", {"preconditions": {"uid": namespace["metadata"]["uid"]}})


async def test_finalizers_shrink_but_do_not_grow_and_the_last_ends_it(api: Any) -> None:
    made = await api.make(CONFIGMAPS, "m", metadata={"finalizers": ["x.io/a", "x.io/b"]})
    await api(f"DELETE {CONFIGMAPS}/m")
    seen = await api.watch(f"{CONFIGMAPS}?watch=1&resourceVersion={await api.version(CONFIGMAPS)}")
    await api.merge(f"{CONFIGMAPS}/m", {"metadata": {"finalizers": ["x.io/a", "x.io/c"]}}, code=422)
    await api.merge(f"{CONFIGMAPS}/m", {"metadata": {"finalizers": ["x.io/a"]}})
    assert (await seen.next())["type"] == "MODIFIED"
    await api.merge(f"{CONFIGMAPS}/m", {"metadata": {"finalizers": None}})
    event = await seen.next()
    assert (event["type"], event["object"]["metadata"]["uid"]) == ("DELETED", made["metadata"]["uid"])
    again = await api.make(CONFIGMAPS, "m")
    assert again["metadata"]["uid"] != made["metadata"]["uid"]


async def test_what_has_a_finalizer_stays_marked(api: Any) -> None:
    await api.make(CONFIGMAPS, "held", metadata={"labels": {"app": "x"}, "finalizers": ["x.io/a"]})
    await api.make(CONFIGMAPS, "free", metadata={"labels": {"app": "x"}})
    gone = await api(f"DELETE {CONFIGMAPS}?labelSelector=app=x")
    assert gone["kind"] == "ConfigMapList"
    assert {item["metadata"]["name"] for item in gone["items"]} == {"held", "free"}
    (left,) = (await api(f"GET {CONFIGMAPS}"))["items"]
    assert left["metadata"]["name"] == "held"
    assert left["metadata"]["deletionTimestamp"]
