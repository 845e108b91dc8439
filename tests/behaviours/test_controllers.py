"""What controllers make of objects: collection, namespaces that end, adoption, eviction; on virtual time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from setpoint.testing.cluster import VirtualCluster

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
REPLICASETS = "/apis/apps/v1/namespaces/default/replicasets"
PODS = "/api/v1/namespaces/default/pods"
SPEC = {"containers": [{"name": "c", "image": "i"}]}
LABELS = {"app": "x"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": SPEC}


@pytest.fixture
async def cluster() -> AsyncIterator[VirtualCluster]:
    async with VirtualCluster(nodes=2) as made:
        yield made


@pytest.fixture
def api(cluster: VirtualCluster, api_of: Callable[[VirtualCluster], Any]) -> Any:
    return api_of(cluster)


def owned_by(owner: Any, *, blocks: bool = False, controls: bool = False) -> dict[str, Any]:
    """Metadata that names an owner."""
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        **{key: owner["metadata"][key] for key in ("name", "uid")},
    }
    return {"ownerReferences": [{**reference, "blockOwnerDeletion": blocks, "controller": controls}]}


async def names(api: Any, path: str) -> list[str]:
    return sorted(item["metadata"]["name"] for item in (await api(f"GET {path}"))["items"])


async def chain(api: Any, *, blocks: bool) -> None:
    """root ← mid ← leaf, and mid has a finalizer."""
    root = await api.make(CONFIGMAPS, "root")
    mid = await api.make(CONFIGMAPS, "mid", metadata={**owned_by(root, blocks=blocks), "finalizers": ["x.io/a"]})
    await api.make(CONFIGMAPS, "leaf", metadata=owned_by(mid, blocks=blocks))


async def test_foreground_waits_for_dependents_that_block(cluster: VirtualCluster, api: Any) -> None:
    await chain(api, blocks=True)
    marked = await api(f"DELETE {CONFIGMAPS}/root?propagationPolicy=Foreground")
    assert marked["metadata"]["finalizers"] == ["foregroundDeletion"]
    await cluster.settled()
    await cluster.advance(60)
    assert {"root", "mid"} <= set(await names(api, CONFIGMAPS))
    assert "leaf" not in await names(api, CONFIGMAPS)
    await api.merge(f"{CONFIGMAPS}/mid", {"metadata": {"finalizers": []}})
    await cluster.settled()
    assert not {"root", "mid"} & set(await names(api, CONFIGMAPS))


async def test_foreground_does_not_wait_for_those_that_do_not_block(cluster: VirtualCluster, api: Any) -> None:
    await chain(api, blocks=False)
    await api(f"DELETE {CONFIGMAPS}/root?propagationPolicy=Foreground")
    await cluster.settled()
    assert "root" not in await names(api, CONFIGMAPS)
    assert (await api(f"GET {CONFIGMAPS}/mid"))["metadata"]["deletionTimestamp"]
    await api.merge(f"{CONFIGMAPS}/mid", {"metadata": {"finalizers": []}})
    await cluster.settled()
    assert not {"mid", "leaf"} & set(await names(api, CONFIGMAPS))


async def test_orphans_stay_and_lose_the_reference(cluster: VirtualCluster, api: Any) -> None:
    await chain(api, blocks=True)
    marked = await api(f"DELETE {CONFIGMAPS}/root?propagationPolicy=Orphan")
    assert marked["metadata"]["finalizers"] == ["orphan"]
    await cluster.settled()
    assert {"mid", "leaf"} <= set(await names(api, CONFIGMAPS))
    assert "root" not in await names(api, CONFIGMAPS)
    mid = await api(f"GET {CONFIGMAPS}/mid")
    assert "ownerReferences" not in mid["metadata"]
    assert "deletionTimestamp" not in mid["metadata"]


async def test_a_job_leaves_its_pods_and_a_deployment_does_not(cluster: VirtualCluster, api: Any) -> None:
    await api.make("/apis/batch/v1/namespaces/default/jobs", "j", spec={"template": {"spec": {**SPEC, "restartPolicy": "Never"}}})
    await api.make(DEPLOYMENTS, "d", spec={"selector": {"matchLabels": LABELS}, "template": TEMPLATE})
    await cluster.settled()
    assert len(await names(api, PODS)) == 2
    await api("DELETE /apis/batch/v1/namespaces/default/jobs/j")
    await api(f"DELETE {DEPLOYMENTS}/d")
    await cluster.until(lambda: only(api, "j-"), limit=90)
    assert await names(api, REPLICASETS) == []


async def only(api: Any, prefix: str) -> bool:
    return [name.startswith(prefix) for name in await names(api, PODS)] == [True]


async def test_a_namespace_ends_when_its_content_has(cluster: VirtualCluster, api: Any) -> None:
    namespace, inside = "/api/v1/namespaces/gone", "/api/v1/namespaces/gone/configmaps"
    await api.make("/api/v1/namespaces", "gone")
    await cluster.settled()
    await api.make(inside, "held", metadata={"finalizers": ["x.io/a"]})
    await api.make(inside, "free")
    marked = await api(f"DELETE {namespace}")
    assert marked["status"]["phase"] == "Terminating"
    refused = await api(f"POST {inside}", {"metadata": {"name": "late"}}, code=403)
    assert refused["reason"] == "Forbidden"
    assert refused["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    assert refused["message"] == (
        'configmaps "late" is forbidden: unable to create new content in namespace gone because it is being terminated'
    )
    await api.merge(f"{inside}/held", {"data": {"k": "1"}})
    await cluster.advance(10)  # the controller gives caches 5 s
    assert (await api(f"DELETE {namespace}"))["metadata"]["name"] == "gone"
    held = await api(f"GET {namespace}")
    kept = await api(f"PUT {namespace}", {**held, "spec": {"finalizers": []}})
    assert kept["spec"] == {"finalizers": ["kubernetes"]}
    assert await names(api, inside) == ["held"]
    conditions = {condition["type"]: condition["status"] for condition in kept["status"]["conditions"]}
    assert conditions["NamespaceFinalizersRemaining"] == "True"
    await api.merge(f"{inside}/held", {"metadata": {"finalizers": []}})
    await cluster.until(lambda: missing(api, namespace), limit=120)
    gone = await api(f"POST {inside}", {"metadata": {"name": "late"}}, code=404)
    assert gone["message"] == 'namespaces "gone" not found'
    assert (await api("DELETE /api/v1/namespaces/default", code=403))["reason"] == "Forbidden"


async def missing(api: Any, path: str) -> bool:
    return bool((await api.respond(f"GET {path}")).status == 404)


@pytest.mark.parametrize(("replicas", "surge", "unavailable"), [(1, 1, 0), (5, 2, 1), (6, 2, 1), (10, 3, 2)])
async def test_a_roll_out_keeps_to_its_rounded_bounds(
    cluster: VirtualCluster, api: Any, replicas: int, surge: int, unavailable: int
) -> None:
    await api.make(DEPLOYMENTS, "d", spec={"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": TEMPLATE})
    await cluster.settled()
    bad = {
        "containers": [{"name": "c", "image": "other", "readinessProbe": {"tcpSocket": {"port": 1}, "initialDelaySeconds": 500}}]
    }
    seen = await api.watch(f"{PODS}?watch=1")
    await api(
        f"PATCH {DEPLOYMENTS}/d", {"spec": {"template": {"spec": bad}}}, content_type="application/strategic-merge-patch+json"
    )
    await cluster.settled()
    await cluster.advance(40)
    await seen.close()
    sizes = sorted((held["spec"]["replicas"] for held in (await api(f"GET {REPLICASETS}"))["items"]), reverse=True)
    assert sum(sizes) <= replicas + surge
    available = (await api(f"GET {DEPLOYMENTS}/d"))["status"]["availableReplicas"]
    assert available >= replicas - unavailable


async def test_pods_are_adopted_and_released_by_their_labels(cluster: VirtualCluster, api: Any) -> None:
    await api.make(PODS, "bare", metadata={"labels": LABELS}, spec=SPEC)
    foreign: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "o", "uid": ""}}
    foreign["metadata"]["uid"] = (await api.make(CONFIGMAPS, "o"))["metadata"]["uid"]
    await api.make(PODS, "foreign", metadata={"labels": LABELS, **owned_by(foreign, controls=True)}, spec=SPEC)
    await api.make(PODS, "ending", metadata={"labels": LABELS, "finalizers": ["x.io/a"]}, spec=SPEC)
    await cluster.settled()
    await api(f"DELETE {PODS}/ending")
    await cluster.settled()
    made = await api.make(REPLICASETS, "r", spec={"replicas": 2, "selector": {"matchLabels": LABELS}, "template": TEMPLATE})
    await cluster.settled()
    uid = made["metadata"]["uid"]

    async def owned() -> set[str]:
        pods = (await api(f"GET {PODS}"))["items"]
        return {
            pod["metadata"]["name"]
            for pod in pods
            if any(owner["uid"] == uid and owner["controller"] for owner in pod["metadata"].get("ownerReferences", []))
        }

    first = await owned()
    assert "bare" in first
    assert len(first) == 2
    await api.merge(f"{PODS}/bare", {"metadata": {"labels": {"app": "other"}}})
    await cluster.settled()
    second = await owned()
    assert "bare" not in second
    assert len(second) == 2
    bare = await api(f"GET {PODS}/bare")
    assert "ownerReferences" not in bare["metadata"]
    assert "deletionTimestamp" not in bare["metadata"]
    await api.merge(f"{PODS}/bare", {"metadata": {"labels": LABELS}})
    await cluster.until(lambda: two(owned), limit=60)
    assert {"foreign", "ending"} <= set(await names(api, PODS))
    assert not {"foreign", "ending"} & await owned()


async def two(owned: Callable[[], Any]) -> bool:
    return len(await owned()) == 2


MAINTENANCE = {"key": "maint", "value": "1", "effect": "NoExecute"}


def tolerating(seconds: int | None = None, **fields: Any) -> dict[str, Any]:
    limited = {} if seconds is None else {"tolerationSeconds": seconds}
    return {"key": "maint", "operator": "Exists", "effect": "NoExecute", **limited, **fields}


async def tainted(cluster: VirtualCluster, api: Any) -> Callable[[float], Awaitable[None]]:
    """Pods of every patience on node-1, which is then tainted; returns how to go on to so many seconds after that."""
    patience: dict[str, list[dict[str, Any]]] = {
        "plain": [],
        "for-ever": [tolerating()],
        "zero": [tolerating(0)],
        "five": [tolerating(5), tolerating(20, operator="Equal", value="1")],  # the first that matches counts
    }
    for name, tolerations in patience.items():
        await api.make(PODS, name, spec={**SPEC, "nodeName": "node-1", "tolerations": tolerations})
    await cluster.settled()
    start = cluster.clock.elapsed
    await api.merge("/api/v1/nodes/node-1", {"spec": {"taints": [MAINTENANCE]}})

    async def second(number: float) -> None:
        await cluster.advance(start + number - cluster.clock.elapsed)

    return second


async def ending(api: Any) -> set[str]:
    """Pods that are gone or being deleted."""
    alive = {pod["metadata"]["name"] for pod in (await api(f"GET {PODS}"))["items"] if "deletionTimestamp" not in pod["metadata"]}
    return {"plain", "for-ever", "zero", "five"} - alive


async def test_no_execute_ends_pods_when_their_patience_does(cluster: VirtualCluster, api: Any) -> None:
    seen = await api.watch(f"{PODS}?watch=1&resourceVersion={await api.version(PODS)}")
    second = await tainted(cluster, api)
    await second(2)
    assert await ending(api) == {"plain", "zero"}
    reasons: set[str] = set()
    while not reasons:
        pod = (await seen.next())["object"]
        found = {held["type"]: held["reason"] for held in pod["status"].get("conditions", []) if "reason" in held}
        reasons = {found["DisruptionTarget"]} if "DisruptionTarget" in found else set()
    assert reasons == {"DeletionByTaintManager"}
    await seen.close()
    await second(4.5)
    assert await ending(api) == {"plain", "zero"}
    await second(6.5)
    assert await ending(api) == {"plain", "zero", "five"}
    await second(1000)
    assert await ending(api) == {"plain", "zero", "five"}


async def test_an_untainted_node_keeps_its_pods(cluster: VirtualCluster, api: Any) -> None:
    second = await tainted(cluster, api)
    await second(3)
    await api.merge("/api/v1/nodes/node-1", {"spec": {"taints": None}})
    await cluster.advance(60)
    assert await ending(api) == {"plain", "zero"}


async def test_every_pod_waits_300_s_for_its_node_unless_it_says_otherwise(api: Any) -> None:
    made = await api.make(PODS, "p", spec=SPEC)
    keys = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    assert made["spec"]["tolerations"] == [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300} for key in keys
    ]
    own = {"key": keys[0], "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 7}
    held = await api.make(PODS, "q", spec={**SPEC, "tolerations": [own]})
    assert held["spec"]["tolerations"] == [own, made["spec"]["tolerations"][1]]
