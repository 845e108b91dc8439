from __future__ import annotations

from typing import Any, cast

import pytest

from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import NODES, PODS, Node, Pod, Taint, Toleration
from setpoint.client.client import Client, WatchEvent
from setpoint.client.factory import InformerFactory
from setpoint.client.informer import ADDED, MODIFIED
from setpoint.controllers.component import Context, Settings
from setpoint.controllers.taint_eviction.controller import new
from setpoint.controllers.taint_eviction.plan import Action, Observed, diff, tolerated_for
from setpoint.kit.clock import VirtualClock

NAME = "taint-eviction-controller"
MAINT = Taint(key="maint", value="1", effect="NoExecute")


def tolerate(seconds: int | None = None, **fields: str) -> Toleration:
    return Toleration(**{"key": "maint", "operator": "Exists", **fields}, toleration_seconds=seconds)


@pytest.mark.parametrize(
    ("tolerations", "seconds"),
    [
        ((), 0),
        ((tolerate(),), None),
        ((tolerate(0),), 0),
        ((tolerate(-5),), 0),
        ((tolerate(5), tolerate(20)), 5),
        ((tolerate(key=""),), None),
        ((tolerate(operator="Equal", value="1"),), None),
        ((tolerate(operator="", value="2"),), 0),
        ((tolerate(effect="NoSchedule"),), 0),
        ((tolerate(key="other"),), 0),
    ],
)
def test_how_long_a_taint_is_tolerated(tolerations: tuple[Toleration, ...], seconds: float | None) -> None:
    assert tolerated_for((MAINT,), tolerations) == seconds


def test_the_shortest_toleration_of_several_taints_counts() -> None:
    other = Taint(key="other", effect="NoExecute")
    assert tolerated_for((MAINT, other), (tolerate(30), tolerate(10, key="other"))) == 10
    assert tolerated_for((), ()) is None


def test_a_scheduled_eviction_keeps_its_moment_and_is_cancelled_when_all_is_tolerated() -> None:
    pod = convert({"metadata": {"name": "p"}, "spec": {"tolerations": [{"operator": "Exists", "tolerationSeconds": 60}]}}, Pod)
    first = diff(Observed(pod, (MAINT,), None, 100))
    assert first is not None
    assert (first.action, first.due) == (Action.SCHEDULE, 160)
    again = diff(Observed(pod, (MAINT,), 160, 130))
    assert again is not None
    assert (again.action, again.due) == (Action.SCHEDULE, 160)
    due = diff(Observed(pod, (MAINT,), 160, 160))
    assert due is not None
    assert due.action is Action.EVICT
    cancelled = diff(Observed(pod, (), 160, 150))
    assert cancelled is not None
    assert cancelled.action is Action.CANCEL
    assert diff(Observed(pod, (), None, 150)) is None


async def pod(world: Any, name: str, *tolerations: dict[str, Any]) -> None:
    spec = {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}], "tolerations": [*tolerations]}
    body = {"metadata": {"name": name, "finalizers": ["x.example/hold"]}, "spec": spec}
    await world.call("POST", "/api/v1/namespaces/ns/pods", body)


async def deleted(world: Any) -> list[str]:
    pods = (await world.call("GET", "/api/v1/namespaces/ns/pods"))["items"]
    return sorted(each["metadata"]["name"] for each in pods if "deletionTimestamp" in each["metadata"])


@pytest.fixture
async def tainted(world: Any) -> Any:
    await world.namespace("ns", account=True)
    await world.call("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}})
    await pod(world, "plain")
    await pod(world, "ever", {"key": "maint", "operator": "Exists"})
    await pod(world, "zero", {"key": "maint", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0})
    await pod(world, "five", {"key": "maint", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5})
    await world.run(NAME)
    await world.merge("/api/v1/nodes/n1", {"spec": {"taints": [{"key": "maint", "value": "1", "effect": "NoExecute"}]}})
    await world.clock.advance(0.5)
    return world


async def test_pods_go_when_their_toleration_ends(tainted: Any) -> None:
    assert await deleted(tainted) == ["plain", "zero"]
    await tainted.clock.advance(4)
    assert await deleted(tainted) == ["plain", "zero"]
    await tainted.clock.advance(1)
    assert await deleted(tainted) == ["five", "plain", "zero"]
    await tainted.clock.advance(1000)
    assert await deleted(tainted) == ["five", "plain", "zero"]
    conditions = (await tainted.get("/api/v1/namespaces/ns/pods/plain"))["status"]["conditions"]
    (target,) = [each for each in conditions if each["type"] == "DisruptionTarget"]
    assert (target["status"], target["reason"], target["message"]) == (
        "True",
        "DeletionByTaintManager",
        "Taint manager: deleting due to NoExecute taint",
    )


async def test_taking_the_taint_away_cancels(tainted: Any) -> None:
    await tainted.clock.advance(3)
    await tainted.merge("/api/v1/nodes/n1", {"spec": {"taints": None}})
    await tainted.clock.advance(60)
    assert await deleted(tainted) == ["plain", "zero"]


async def test_events_know_the_pod_by_its_name(tainted: Any) -> None:
    await tainted.merge("/api/v1/nodes/n1", {"spec": {"taints": None}})
    await tainted.clock.advance(10)
    events = (await tainted.get("/api/v1/namespaces/ns/events"))["items"]
    told = {each["involvedObject"]["name"]: each for each in events if each["reason"] == "TaintManagerEviction"}
    assert {name: each["message"] for name, each in told.items()} == {
        "plain": "Marking for deletion Pod ns/plain",
        "zero": "Marking for deletion Pod ns/zero",
        "five": "Cancelling deletion of Pod ns/five",
    }
    assert told["five"]["involvedObject"] == {"kind": "Pod", "namespace": "ns", "name": "five", "apiVersion": "v1"}


async def test_a_pod_that_comes_later_is_judged_too(tainted: Any) -> None:
    await pod(tainted, "later")
    await tainted.clock.advance(0.5)
    assert "later" in await deleted(tainted)


async def test_another_pod_of_the_same_name_is_looked_at() -> None:
    clock, nobody = VirtualClock(), cast("Client", None)
    informers = InformerFactory(nobody, clock)
    controller = new(Context(nobody, clock, informers, Settings(), cast("Any", lambda _: None)))
    taints = [{"key": "maint", "effect": "NoExecute"}]
    node = convert({"metadata": {"name": "n"}, "spec": {"taints": taints}}, Node)
    informers.of(NODES).apply([WatchEvent(ADDED, node)])
    for version, uid in enumerate("ab"):
        metadata = {"name": "p", "namespace": "ns", "uid": uid, "resourceVersion": str(version)}
        one = convert({"metadata": metadata, "spec": {"nodeName": "n"}}, Pod)
        informers.of(PODS).apply([WatchEvent(MODIFIED, one)])
        assert len(controller.queue) == 1, uid
        controller.queue.done(await controller.queue.get())
