from __future__ import annotations

from typing import Any

import pytest

from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import Node, Pod
from setpoint.client.store import Store
from setpoint.client.transport import TransportError
from setpoint.controllers.component import Settings
from setpoint.controllers.pod_gc.controller import QUARANTINE, PodGcReconciler
from setpoint.controllers.pod_gc.plan import End, Observed, Plan, diff
from setpoint.kit.clock import VirtualClock

NAME = "pod-garbage-collector-controller"


def pod(name: str, phase: str = "Running", node: str = "n1", **metadata: Any) -> Pod:
    meta = {"name": name, "uid": name, "generation": 1, **metadata}
    return convert({"metadata": meta, "spec": {"nodeName": node}, "status": {"phase": phase}}, Pod)


def ended(*pods: Pod, nodes: tuple[Node, ...] = (), vanished: tuple[str, ...] = (), limit: int = 0) -> dict[str, Any]:
    plan = diff(Observed(pods, {node.metadata.name: node for node in nodes}, vanished, limit, 0.0))
    return {end.pod.metadata.name: end.status for end in plan.ends}


def test_pods_of_vanished_nodes_fail_as_disrupted() -> None:
    ends = ended(pod("a"), pod("b", "Succeeded"), pod("c", node="n2"), vanished=("n1",))
    assert list(ends) == ["a", "b"]
    assert (ends["a"]["phase"], ends["a"]["conditions"][0]["reason"]) == ("Failed", "DeletionByPodGC")
    assert ends["b"] is None


def test_deleted_pods_without_node_or_on_one_out_of_service_fail() -> None:
    gone = {"deletionTimestamp": "2030-01-01T00:00:00Z"}
    broken = convert({"metadata": {"name": "n1"}, "spec": {"taints": [{"key": "node.kubernetes.io/out-of-service"}]}}, Node)
    ends = ended(pod("a", node="", **gone), pod("b", **gone), pod("c"), pod("d", node="n2", **gone), nodes=(broken,))
    assert ends == {name: {"phase": "Failed", "observedGeneration": 1} for name in ("a", "b")}


def test_of_too_many_ended_pods_the_evicted_and_then_the_oldest_go() -> None:
    pods = [pod(f"p{n}", "Succeeded", creationTimestamp=f"2030-01-01T00:00:0{n}Z") for n in range(4)]
    assert list(ended(*pods, pod("r"), limit=2)) == ["p0", "p1"]
    assert ended(*pods, limit=0) == {}


class Away:
    """The client of a server that cannot be reached."""

    async def _call(self, *_: Any, **__: Any) -> Any:
        raise TransportError("away")

    get = patch = delete = _call


async def test_a_server_that_is_away_neither_ends_pods_nor_lengthens_the_period() -> None:
    clock, settings, pods = VirtualClock(), Settings(), Store[Pod]({"node": lambda each: (each.spec.node_name,)})
    pods.put(pod("a"))
    client: Any = Away()
    reconciler = PodGcReconciler(client, clock, Store[Node](), pods, settings)
    await reconciler.observe("pods")
    clock.jump(QUARANTINE)
    assert not (await reconciler.observe("pods")).vanished
    result = await reconciler.act(Plan((End(pod("a")),)))
    assert result.requeue_after == pytest.approx(settings.pod_gc_period)


async def test_a_pod_on_a_node_that_never_was_is_ended_after_a_quarantine(world: Any) -> None:
    await world.namespace("ns", account=True)
    spec = {"nodeName": "nowhere", "containers": [{"name": "c", "image": "i"}]}
    body = {"metadata": {"name": "p", "finalizers": ["x.example/hold"]}, "spec": spec}
    await world.call("POST", "/api/v1/namespaces/ns/pods", body)
    await world.run(NAME)
    await world.clock.advance(35)
    assert "deletionTimestamp" not in (await world.get("/api/v1/namespaces/ns/pods/p"))["metadata"]
    await world.clock.advance(30)
    found = await world.get("/api/v1/namespaces/ns/pods/p")
    assert found["metadata"]["deletionGracePeriodSeconds"] == 0
    assert found["status"]["phase"] == "Failed"
