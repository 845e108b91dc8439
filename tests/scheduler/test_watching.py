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
