from __future__ import annotations

from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import Node, Pod
from setpoint.kit.clock import VirtualClock
from setpoint.scheduler.nominator import Nominator
from setpoint.scheduler.queue import SchedulingQueue
from setpoint.scheduler.snapshot import Snapshot
from setpoint.scheduler.watching import Watching


def pod(uid: str, node: str) -> Pod:
    metadata = {"name": "p", "namespace": "ns", "uid": uid, "generation": 1}
    return convert({"metadata": metadata, "spec": {"nodeName": node, "containers": [{"name": "c"}]}}, Pod)


def test_another_pod_of_the_same_name_counts_on_its_own_node() -> None:
    snapshot = Snapshot()
    queue = SchedulingQueue(lambda _: None, lambda _: 0, {})
    watching = Watching(queue, snapshot, Nominator(), VirtualClock(), lambda _: True, lambda: None)
    for name in ("n1", "n2"):
        watching.node_changed("ADDED", None, convert({"metadata": {"name": name}}, Node))
    watching.pod_changed("ADDED", None, pod("a", "n1"))
    watching.pod_changed("MODIFIED", pod("a", "n1"), pod("b", "n2"))  # its deletion was missed
    counts = {node.name: len(node.pods) for node in snapshot.nodes}
    assert counts == {"n1": 0, "n2": 1}


def resized(spec: str, has: str) -> Pod:
    requests = {"name": "c", "resources": {"requests": {"cpu": spec}}}
    status = {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": has}}}]}
    metadata = {"name": "p", "namespace": "ns", "uid": "a", "generation": 1}
    return convert({"metadata": metadata, "spec": {"nodeName": "n", "containers": [requests]}, "status": status}, Pod)


def test_a_node_has_its_room_back_when_a_pod_has_become_smaller() -> None:
    snapshot = Snapshot()
    queue = SchedulingQueue(lambda _: None, lambda _: 0, {})
    watching = Watching(queue, snapshot, Nominator(), VirtualClock(), lambda _: True, lambda: None)
    watching.node_changed("ADDED", None, convert({"metadata": {"name": "n"}}, Node))
    states = [resized("2", "2"), resized("1", "2"), resized("1", "1")]
    taken = []
    for old, new in zip([None, *states], states, strict=False):
        watching.pod_changed("MODIFIED", old, new)
        taken.append(snapshot.nodes[0].requested["cpu"])
    assert taken == [2000, 2000, 1000]
