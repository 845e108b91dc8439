"""The queue as a state machine: order, backoff, hints, gates."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.events import ActionType, ClusterEvent, EventResource
from setpoint.scheduler.pods import pod_key
from setpoint.scheduler.queue import NO_NODES_PLUGIN, Backoff, Place, QueuedPod, SchedulingQueue
from setpoint.scheduler.status import named, unresolvable
from setpoint.testing.scheduling import Rig, node, pod, required, taint


def make_queue() -> SchedulingQueue:
    profile = Rig().profile
    return SchedulingQueue(profile.pre_enqueue, profile.sort_key, profile.events_to_register)


def changed(old: Pod, **spec: object) -> Pod:
    """The same pod with other fields."""
    return replace(old, spec=pod(**spec).spec)  # type: ignore[arg-type]  # a Struct's fields by name


def place_of(queued: QueuedPod) -> Place:
    return queued.place


def popped(queue: SchedulingQueue, now: float) -> QueuedPod:
    found = queue.pop(now)
    assert found is not None
    return found


def refused(queue: SchedulingQueue, now: float, *plugins: str) -> QueuedPod:
    """Pop the next pod and have it refused by these plugins (by none: an error)."""
    queued = popped(queue, now)
    queue.fail(queued, now, plugins)
    return queued


def node_added(**spec: object) -> ClusterEvent:
    return ClusterEvent(EventResource.NODE, ActionType.ADD, None, node(**spec))  # type: ignore[arg-type]  # a Struct's fields by name


def test_priority_first_then_age() -> None:
    queue = make_queue()
    for number, priority in enumerate((0, 5, None, 5)):
        queue.add(pod(f"p{number}", priority=priority), float(number))
    order = [popped(queue, 9).pod.metadata.name for _ in range(4)]
    assert order == ["p1", "p3", "p0", "p2"]
    assert queue.pop(9) is None


def test_a_changed_priority_reorders() -> None:
    queue = make_queue()
    first, second = pod("first"), pod("second")
    queue.add(first, 0)
    queue.add(second, 1)
    queue.update(changed(second, priority=10), 2)
    assert popped(queue, 3).pod.metadata.name == "second"


def test_deleted_pods_are_not_scheduled() -> None:
    queue = make_queue()
    gone, stays = pod("gone"), pod("stays")
    queue.add(gone, 0)
    queue.add(stays, 1)
    queue.delete(pod_key(gone))
    assert popped(queue, 2).pod is stays


def test_deleted_in_flight_is_forgotten() -> None:
    queue = make_queue()
    candidate = pod()
    queue.add(candidate, 0)
    queued = popped(queue, 0)
    queue.delete(pod_key(candidate))
    queue.fail(queued, 0, ["NodeResourcesFit"])
    assert len(queue) == 0
    assert queue.due() is None


def test_backoff_doubles_up_to_ten_seconds() -> None:
    queue = make_queue()
    queue.add(pod(), 0)
    now, waited = 0.0, []
    for _ in range(6):
        queued = refused(queue, now)
        assert queue.pop(now) is None
        due = queue.due()
        assert due is not None
        assert due == queued.backoff_until(Backoff())
        assert queue.pop(due - 0.01) is None
        waited.append(due - now)
        now = due
    assert waited == [1, 2, 4, 8, 10, 10]


def test_of_those_whose_backoff_ends_in_the_same_second_the_important_comes_first() -> None:
    queue = make_queue()
    for name, priority, when in (("lesser", 0, 0.1), ("important", 5, 0.8), ("late", 9, 1.1)):
        queue.add(pod(name, priority=priority), when)
        refused(queue, when, "NodeResourcesFit")
    queue.happened(node_added(), 0.9)
    assert [popped(queue, 0.9).pod.metadata.name for _ in range(3)] == ["important", "lesser", "late"]


def test_gated_pods_are_let_in_by_what_their_gate_waits_for() -> None:
    wanted = pod(resourceClaims=[{"name": "x", "resourceClaimName": "x"}])
    claims: list[str] = []
    rig = Rig()
    plugin: Any = next(each for each in rig.profile.plugins if each.name == "DynamicResources")
    queue = SchedulingQueue(
        lambda _: None if claims else named(unresolvable("missing"), plugin.name),
        rig.profile.sort_key,
        rig.profile.events_to_register,
    )
    queue.add(wanted, 0)
    queue.happened(node_added(), 0)
    assert queue.pop(0) is None
    claims.append("x")
    queue.happened(node_added(), 0)
    assert popped(queue, 0).pod is wanted


def test_only_a_helpful_event_brings_a_refused_pod_back() -> None:
    queue = make_queue()
    queue.add(pod(cpu="2"), 0)
    queued = refused(queue, 0, "NodeResourcesFit")
    queue.happened(node_added(cpu="1"), 5)
    assert place_of(queued) is Place.WAITING, "the new node is too small"
    old, relabelled = node(cpu="1"), node(cpu="1", labels={"a": "b"})
    queue.happened(ClusterEvent(EventResource.NODE, ActionType.LABEL, old, relabelled), 5)
    assert place_of(queued) is Place.WAITING, "labels do not matter to this plugin"
    queue.happened(ClusterEvent(EventResource.NODE, ActionType.ALLOCATABLE, old, node(cpu="2")), 5)
    assert place_of(queued) is Place.ACTIVE


def test_hints_of_each_plugin() -> None:
    selects: dict[str, Any] = {"affinity": required({"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]})}
    port: dict[str, Any] = {"containers": [{"name": "c", "image": "x", "ports": [{"containerPort": 1, "hostPort": 80}]}]}
    tainted, clean = node(taints=[taint("t")]), node()
    cases: list[tuple[str, dict[str, Any], ClusterEvent, bool]] = [
        ("TaintToleration", {}, ClusterEvent(EventResource.NODE, ActionType.TAINT, tainted, clean), True),
        ("TaintToleration", {}, ClusterEvent(EventResource.NODE, ActionType.TAINT, clean, tainted), False),
        ("TaintToleration", {}, ClusterEvent(EventResource.NODE, ActionType.ADD, None, tainted), False),
        ("NodeUnschedulable", {}, ClusterEvent(EventResource.NODE, ActionType.TAINT, node(unschedulable=True), clean), True),
        ("NodeUnschedulable", {}, ClusterEvent(EventResource.NODE, ActionType.TAINT, clean, clean), False),
        ("NodeAffinity", selects, ClusterEvent(EventResource.NODE, ActionType.LABEL, clean, node(labels={"zone": "a"})), True),
        ("NodeAffinity", selects, ClusterEvent(EventResource.NODE, ActionType.LABEL, clean, node(labels={"zone": "b"})), False),
        ("NodePorts", port, ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE, pod(**port), None), True),
        ("NodePorts", port, ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE, pod(), None), False),
        ("NodeResourcesFit", {}, ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE, pod(cpu="1"), None), True),
        ("NodeResourcesFit", {}, ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ADD, None, pod(cpu="1")), False),
        (NO_NODES_PLUGIN, {}, ClusterEvent(EventResource.NODE, ActionType.ADD, None, clean), True),
        ("SomeoneElse", {}, ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ADD, None, pod()), True),
    ]
    for plugin, spec, event, helps in cases:
        queue = make_queue()
        queue.add(pod(**spec), 0)
        queued = refused(queue, 0, plugin)
        queue.happened(event, 60)
        assert (place_of(queued) is Place.ACTIVE) == helps, (plugin, event)


def test_a_refused_pod_in_backoff_is_taken_when_nothing_else_waits() -> None:
    queue = make_queue()
    queue.add(pod("refused"), 0)
    queued = refused(queue, 0, "NodeResourcesFit")
    queue.happened(node_added(), 0.1)
    assert place_of(queued) is Place.BACKOFF
    queue.add(pod("new"), 0.2)
    assert popped(queue, 0.2).pod.metadata.name == "new"
    assert popped(queue, 0.2).pod.metadata.name == "refused"


def test_an_error_is_waited_out() -> None:
    queue = make_queue()
    queue.add(pod(), 0)
    refused(queue, 0)
    assert queue.pop(0.5) is None
    assert queue.due() == 1
    assert queue.pop(1) is not None


def test_after_five_minutes_a_pod_is_tried_anyway() -> None:
    queue = make_queue()
    queue.add(pod(), 0)
    refused(queue, 7, "NodeAffinity")
    assert queue.due() == 307
    assert queue.pop(306) is None
    assert queue.pop(307) is not None


def test_a_new_toleration_helps() -> None:
    queue = make_queue()
    candidate = pod()
    queue.add(candidate, 0)
    queued = refused(queue, 0, "TaintToleration")
    queue.update(changed(candidate), 20)
    assert place_of(queued) is Place.WAITING
    queue.update(changed(candidate, tolerations=[{"operator": "Exists"}]), 20)
    assert place_of(queued) is Place.ACTIVE
    assert queued.pod.spec.tolerations


def test_gated_pods_wait_for_the_last_gate() -> None:
    queue = make_queue()
    candidate = pod(schedulingGates=[{"name": "a"}, {"name": "b"}])
    queue.add(candidate, 0)
    assert queue.pop(0) is None
    queue.happened(node_added(), 1)
    assert queue.pop(1000) is None
    queue.update(changed(candidate, schedulingGates=[{"name": "b"}]), 1001)
    assert queue.pop(1001) is None
    queue.update(changed(candidate), 1002)
    assert queue.pop(1002) is not None


def test_gated_pods_are_not_looked_at_whatever_happens() -> None:
    queue = make_queue()
    gated, open_ = pod("gated", schedulingGates=[{"name": "g"}]), pod("open")
    queue.add(gated, 0)
    queue.add(open_, 0)
    assert refused(queue, 1, "NodeResourcesFit").key == pod_key(open_)
    assert [*queue._waiting] == [pod_key(open_)]
    assert queue.counts()[Place.GATED] == 1
    queue.happened(node_added(), 400)
    assert popped(queue, 400).key == pod_key(open_)
    assert queue.due() is None
    queue.update(changed(gated), 401)
    assert popped(queue, 401).key == pod_key(gated)
