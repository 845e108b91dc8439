from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Raw

from setpoint.api.machinery import quota
from setpoint.api.machinery.status import StatusError
from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import RESOURCEQUOTAS, ResourceQuota
from setpoint.controllers.resource_quota.reconciler import LANDING, QuotaReconciler, Unread
from setpoint.kit.clock import VirtualClock

NAME = "resourcequota-controller"
QUOTA = "/api/v1/namespaces/ns/resourcequotas/q"
SECRETS = "/api/v1/namespaces/ns/secrets"


def used(resource: str, obj: Any) -> dict[str, str]:
    return {name: str(value) for name, value in quota.usage(resource, obj, 0.0).items()}


@pytest.mark.parametrize(
    ("resource", "obj", "wanted"),
    [
        ("leases.coordination.k8s.io", {}, {"count/leases.coordination.k8s.io": "1"}),
        ("secrets", {}, {"count/secrets": "1", "secrets": "1"}),
        (
            "services",
            {"spec": {"type": "LoadBalancer", "allocateLoadBalancerNodePorts": False, "ports": [{"nodePort": 1}, {}]}},
            {"count/services": "1", "services": "1", "services.loadbalancers": "1", "services.nodeports": "1"},
        ),
        (
            "persistentvolumeclaims",
            {"spec": {"storageClassName": "k", "resources": {"requests": {"storage": "1Gi"}}}},
            {
                "count/persistentvolumeclaims": "1",
                "persistentvolumeclaims": "1",
                "requests.storage": "1Gi",
                "k.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
                "k.storageclass.storage.k8s.io/requests.storage": "1Gi",
            },
        ),
        ("pods", {"status": {"phase": "Failed"}}, {"count/pods": "1"}),
        (
            "resourceclaims.resource.k8s.io",
            {
                "spec": {
                    "devices": {
                        "requests": [
                            {"exactly": {"deviceClassName": "a", "allocationMode": "ExactCount", "count": 2}},
                            {"firstAvailable": [{"deviceClassName": "a", "count": 3}, {"deviceClassName": "b", "count": 1}]},
                            {"exactly": {"deviceClassName": "b", "allocationMode": "All"}},
                        ]
                    }
                }
            },
            {
                "count/resourceclaims.resource.k8s.io": "1",
                "a.deviceclass.resource.k8s.io/devices": "5",
                "b.deviceclass.resource.k8s.io/devices": "33",
            },
        ),
        (
            "pods",
            {"spec": {"containers": [{"resources": {"requests": {"cpu": "1", "a.b/c": "2"}, "limits": {"memory": "1Gi"}}}]}},
            {"count/pods": "1", "pods": "1", "cpu": "1", "requests.cpu": "1", "limits.memory": "1Gi", "requests.a.b/c": "2"},
        ),
    ],
)
def test_usage(resource: str, obj: Any, wanted: dict[str, str]) -> None:
    assert used(resource, obj) == wanted


@pytest.mark.parametrize(
    ("spec", "pod", "wanted"),
    [
        ({"scopes": ["Terminating"]}, {"spec": {"activeDeadlineSeconds": 1}}, True),
        ({"scopes": ["NotTerminating"]}, {"spec": {"activeDeadlineSeconds": 1}}, False),
        ({"scopes": ["BestEffort"]}, {"spec": {"containers": [{}]}}, True),
        ({"scopes": ["CrossNamespacePodAffinity"]}, {"spec": {}}, False),
        (
            {"scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "DoesNotExist"}]}},
            {"spec": {}},
            True,
        ),
        (
            {"scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "NotIn", "values": ["a"]}]}},
            {"spec": {"priorityClassName": "a"}},
            False,
        ),
    ],
)
def test_scopes(spec: Any, pod: Any, wanted: bool) -> None:
    assert quota.in_scope(spec, "pods", pod) is wanted


async def secret(world: Any, name: str, **query: str) -> None:
    await world.call("POST", SECRETS, {"metadata": {"name": name}}, **query)


async def test_what_is_stored_counts_what_exceeds_is_refused_and_deletions_give_back(world: Any) -> None:
    await world.namespace("ns")
    await secret(world, "before")
    await world.run(NAME)
    await world.call("POST", QUOTA.removesuffix("/q"), {"metadata": {"name": "q"}, "spec": {"hard": {"secrets": "2"}}})
    await world.clock.advance(1)
    assert (await world.get(QUOTA))["status"] == {"hard": {"secrets": "2"}, "used": {"secrets": "1"}}
    await secret(world, "dry", dryRun="All")
    await secret(world, "a")
    with pytest.raises(StatusError, match="exceeded quota: q, requested: secrets=1, used: secrets=2, limited: secrets=2"):
        await secret(world, "b")
    await world.call("DELETE", f"{SECRETS}/a")
    await world.clock.advance(1)
    assert (await world.get(QUOTA))["status"]["used"] == {"secrets": "1"}
    hard = {"count/configmaps": "5", "count/nosuch.example.com": "1", "count/events": "1"}
    await world.merge(QUOTA, {"spec": {"hard": {"secrets": None, **hard}}})
    await world.clock.advance(1)
    assert (await world.get(QUOTA))["status"] == {"hard": hard, "used": {"count/configmaps": "0"}}


async def test_writes_at_one_time_cannot_exceed_together(world: Any) -> None:
    await world.namespace("ns")
    await world.run(NAME)
    await world.call("POST", QUOTA.removesuffix("/q"), {"metadata": {"name": "q"}, "spec": {"hard": {"secrets": "3"}}})
    await world.clock.advance(1)
    outcomes = await asyncio.gather(*(secret(world, f"s{i}") for i in range(8)), return_exceptions=True)
    assert sum(outcome is None for outcome in outcomes) == 3
    assert len(await world.names(SECRETS)) == 3
    assert (await world.get(QUOTA))["status"]["used"] == {"secrets": "3"}


async def test_what_was_charged_for_and_is_being_written_is_counted() -> None:
    clock, written = VirtualClock(), list[Any]()
    present = convert({"metadata": {"name": "q", "namespace": "ns"}, "spec": {"hard": {"pods": "2"}}}, ResourceQuota)

    class Served:
        async def list(self, resource: Any, *_: object, **__: object) -> Any:
            return SimpleNamespace(items=[present] if resource is RESOURCEQUOTAS else [*written], continue_token="")

    caches: Any = SimpleNamespace(get=lambda _: present, list=lambda _: [], resource_version="9")
    caches.store = caches
    served: Any = Served()
    reconciler = QuotaReconciler(served, clock, caches, caches)
    reconciler.changed("ns/q")
    looking = asyncio.create_task(reconciler.observe("ns/q"))
    await clock.advance(LANDING / 2)
    written.append(Unread(Raw(b'{"uid":"u","resourceVersion":"10"}')))
    await clock.advance(LANDING)
    observed = await looking
    assert observed is not None
    assert observed.used == {"pods": "1"}
