"""The short way of heartbeats comes to the same as the long one, to the byte, and is left by whatever is no heartbeat."""

from __future__ import annotations

from typing import Any

import pytest

from setpoint.api.machinery.schema import trees
from setpoint.apiserver import heartbeats
from setpoint.apiserver.generic_store import update as updating
from setpoint.apiserver.pipeline import Pipeline
from setpoint.kit.clock import VirtualClock
from setpoint.registry.table import RESOURCES
from setpoint.storage.backends.memory import memory_store
from setpoint.testing.chance import seeded

from .conftest import Api

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
LEASE, NODE = f"{LEASES}/n1", "/api/v1/nodes/n1"
MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
MERGED = {"content_type": MERGE}
OWNER = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "u"}
SPEC = {"holderIdentity": "n1", "leaseDurationSeconds": 40, "renewTime": "2030-01-01T00:00:00.000000Z"}
TYPES = ("MemoryPressure", "DiskPressure", "Ready")
LATER, AGAIN = "2030-01-01T00:00:10.250000Z", "2030-01-01T00:00:20.500000Z"

Step = tuple[str, Any, dict[str, str]]


def renew(time: Any = LATER, **spec: Any) -> Step:
    return f"PATCH {LEASE}", {"spec": {"renewTime": time, **spec}}, MERGED


def report(time: str = "2030-01-01T00:05:00Z", types: tuple[str, ...] = TYPES, **more: Any) -> Step:
    conditions = [{"type": each, "lastHeartbeatTime": time, **more} for each in types]
    return f"PATCH {NODE}/status", {"status": {"conditions": conditions}}, {"content_type": STRATEGIC}


def by(agent: str, step: Step, **headers: str) -> Step:
    line, body, given = step
    return line, body, {**given, "user_agent": agent, **headers}


async def played(steps: list[Step], monkeypatch: pytest.MonkeyPatch) -> tuple[list[Any], int]:
    """The answer to each step and the stored bytes after it; how many steps took the short way."""
    taken, short = 0, updating._renew

    async def counted(*given: Any) -> Any:
        nonlocal taken
        taken += 1
        return await short(*given)

    monkeypatch.setattr(updating, "_renew", counted)
    clock = VirtualClock()
    store = memory_store(clock)
    found: list[Any] = []
    with seeded(1):
        await store.open()
        api = Api(Pipeline(RESOURCES, store, clock, schemas=trees.load()), clock, store)
        conditions = [{"type": each, "status": "True", "lastHeartbeatTime": "2030-01-01T00:00:00Z"} for each in TYPES]
        await api("POST /api/v1/namespaces", {"metadata": {"name": "kube-node-lease"}})
        await api("POST /api/v1/nodes", {"metadata": {"name": "n1", "labels": {"a": "b"}}}, user_agent="kubelet")
        await api(f"PATCH {NODE}/status", {"status": {"conditions": conditions}}, user_agent="kubelet", content_type=STRATEGIC)
        await api(f"POST {LEASES}", {"metadata": {"name": "n1", "ownerReferences": [OWNER]}, "spec": SPEC}, user_agent="kubelet")
        for line, body, headers in steps:
            clock.jump(10)
            answer = await api.respond(line, body, **{"user_agent": "kubelet", **headers})
            found.append((answer.status, answer.body, [record.value for record in (await store.list("")).records]))
        await store.close()
    monkeypatch.setattr(updating, "_renew", short)
    return found, taken


SHORT: dict[str, list[Step]] = {
    "a renewal": [renew()],
    "twice": [renew(), renew(AGAIN)],
    "with what is so already": [renew(holderIdentity="n1", leaseDurationSeconds=40)],
    "strategic": [(f"PATCH {LEASE}", {"spec": {"renewTime": LATER}}, {"content_type": STRATEGIC})],
    "others own other fields": [by("other", renew(SPEC["renewTime"], acquireTime=LATER)), renew()],
    "of a node": [report()],
    "of a node, some conditions": [report(types=("MemoryPressure", "Ready"))],
    "of a node, with what is so already": [report(status="True")],
}
LONG: dict[str, list[Step]] = {
    "nothing new": [renew(SPEC["renewTime"])],
    "another holder": [renew(holderIdentity="n2")],
    "a number of another kind": [renew(leaseDurationSeconds=40.0)],
    "a field more": [renew(acquireTime=LATER)],
    "a field less": [renew(holderIdentity=None)],
    "an unknown field": [renew(colour="red")],
    "no time": [renew("soon")],
    "no such day": [renew("2030-02-30T00:00:00.000000Z")],
    "another zone": [renew("2030-01-01T02:00:00.000000+02:00")],
    "fewer digits": [renew("2030-01-01T00:00:09Z")],
    "of another manager": [by("other", renew())],
    "taken back from another manager": [by("other", renew()), renew(AGAIN)],
    "metadata too": [(f"PATCH {LEASE}", {"metadata": {"labels": {"a": "b"}}, "spec": {"renewTime": LATER}}, MERGED)],
    "a name twice": [(f"PATCH {LEASE}", b'{"spec":{"renewTime":"x","renewTime":"%s"}}' % LATER.encode(), MERGED)],
    "a name twice, once with a blank": [(f"PATCH {LEASE}", b'{"spec" :{},"spec":{"renewTime":"%s"}}' % LATER.encode(), MERGED)],
    "no object": [(f"PATCH {LEASE}", [], MERGED)],
    "a spec that is none": [(f"PATCH {LEASE}", {"spec": None}, MERGED)],
    "of a node in another order": [report(types=("Ready", "DiskPressure"))],
    "of a node, a new condition": [report(types=(*TYPES, "PIDPressure"))],
    "of a node, another status": [report(status="False")],
    "of a node, not strategic": [by("kubelet", report(), content_type=MERGE)],
    "of a node, by another": [by("other", report())],
    "of a node with microseconds": [report(LATER)],
}
#: the short way is taken once, by the other step or the first
MIXED: dict[str, list[Step]] = {
    "an object that is being deleted": [
        (f"PATCH {LEASE}", {"metadata": {"finalizers": ["a/b"]}}, MERGED),
        (f"DELETE {LEASE}", None, {}),
        renew(),
        (f"PATCH {LEASE}", {"metadata": {"finalizers": None}}, MERGED),
    ],
}


async def both(steps: list[Step], monkeypatch: pytest.MonkeyPatch) -> int:
    shortened, taken = await played(steps, monkeypatch)
    with monkeypatch.context() as patched:
        patched.setattr(heartbeats, "renewal", lambda *_, **__: None)
        plain, none = await played(steps, monkeypatch)
    assert (shortened, none) == (plain, 0)
    return taken


@pytest.mark.parametrize("name", SHORT)
async def test_the_short_way_makes_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = SHORT[name]
    long = sum("acquireTime" in str(body) for _, body, _ in steps)
    assert await both(steps, monkeypatch) == len(steps) - long


@pytest.mark.parametrize("name", [*LONG, *MIXED])
async def test_what_is_no_heartbeat_takes_the_long_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await both((LONG | MIXED)[name], monkeypatch) == 0


async def test_a_dry_run_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    line, body, headers = renew()
    assert await both([(f"{line}?dryRun=All", body, headers), renew(AGAIN)], monkeypatch) == 2
