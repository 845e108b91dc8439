"""Which nodes a DaemonSet's pods belong on.

As `NodeShouldRunDaemonPod` in `pkg/controller/daemon/daemon_controller.go`, with the node selectors of component-helpers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from setpoint.api.types import apps_v1, core_v1
from setpoint.client.node_selectors import required_terms, selects
from setpoint.client.tolerations import tolerated


def _added(key: str, effect: str) -> core_v1.Toleration:
    return core_v1.Toleration(key=f"node.kubernetes.io/{key}", operator="Exists", effect=effect)


TOLERATIONS = (
    _added("not-ready", "NoExecute"),
    _added("unreachable", "NoExecute"),
    _added("disk-pressure", "NoSchedule"),
    _added("memory-pressure", "NoSchedule"),
    _added("pid-pressure", "NoSchedule"),
    _added("unschedulable", "NoSchedule"),
)
NETWORK = _added("network-unavailable", "NoSchedule")


def tolerations(spec: core_v1.PodSpec) -> tuple[core_v1.Toleration, ...]:
    """The template's, and those that every daemon has: it stays where others must go. One of the same taint is replaced."""
    added = (*TOLERATIONS, NETWORK) if spec.host_network else TOLERATIONS
    kept = list(spec.tolerations)
    for toleration in added:
        at = next((index for index, each in enumerate(kept) if _identity(each) == _identity(toleration)), None)
        if at is None:
            kept.append(toleration)
        else:
            kept[at] = toleration
    return tuple(kept)


def _identity(toleration: core_v1.Toleration) -> tuple[str, str, str, str]:
    return toleration.key, toleration.effect, toleration.operator, toleration.value


class Rule:
    """Where the pods of one DaemonSet belong: whether one is to be made on a node, and whether one that is there may go on.

    What does not depend on the node is worked out once: there may be thousands.
    """

    def __init__(self, daemon_set: apps_v1.DaemonSet) -> None:
        self._spec = daemon_set.spec.template.spec
        self._tolerations = tolerations(self._spec)

    def __call__(self, node: core_v1.Node) -> tuple[bool, bool]:
        spec = self._spec
        if (spec.node_name and spec.node_name != node.metadata.name) or not selects(spec, node):
            return False, False
        taints = node.spec.taints
        if not taints:
            return True, True
        left = {taint.effect for taint in taints if not tolerated(self._tolerations, taint)}
        if left & {"NoSchedule", "NoExecute"}:
            return False, "NoExecute" not in left
        return True, True


#: what the rule says, by the names of the nodes that there are
Places = Mapping[str, tuple[bool, bool]]


def places(daemon_set: apps_v1.DaemonSet, nodes: Iterable[core_v1.Node]) -> Places:
    rule = Rule(daemon_set)
    return {node.metadata.name: rule(node) for node in nodes}


def should_run(daemon_set: apps_v1.DaemonSet, node: core_v1.Node) -> tuple[bool, bool]:
    """(a pod is to be made there, one that is there may go on), for a single node."""
    return Rule(daemon_set)(node)


def target_of(pod: core_v1.Pod) -> str:
    """The node that a pod is on, or is meant for by its affinity; "" where it does not say."""
    if pod.spec.node_name:
        return pod.spec.node_name
    for term in required_terms(pod.spec) or ():
        for field in term.match_fields:
            if field.key == "metadata.name" and field.operator == "In" and len(field.values) == 1:
                return field.values[0]
    return ""
