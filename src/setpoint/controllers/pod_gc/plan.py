"""Which pods to end, and as what. Pure and synchronous. The rules are `gc_controller.go`'s."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct

from setpoint.api.types.core_v1 import Node, Pod
from setpoint.controllers import disruption
from setpoint.controllers.node_lifecycle.health import ready_status
from setpoint.controllers.node_lifecycle.taints import OUT_OF_SERVICE

REASON = "DeletionByPodGC"
MESSAGE = "PodGC: node no longer exists"
_ENDED = {"Succeeded", "Failed"}


def is_over(pod: Pod) -> bool:
    """It has ended, or somebody deleted it: of pods on nodes that are there, only such can be of interest."""
    return pod.status.phase in _ENDED or bool(pod.metadata.deletion_timestamp)


class Observed(Struct, frozen=True):
    """The pods that are over or on vanished nodes (others may be among them), and all nodes.

    `vanished` are the names of nodes that are known not to exist.
    """

    pods: Sequence[Pod]
    nodes: Mapping[str, Node]
    vanished: Collection[str]
    terminated_limit: int
    now: float


class End(Struct, frozen=True):
    """End one pod: patch its status first where `status` is set, then delete it with grace 0."""

    pod: Pod
    status: Mapping[str, Any] | None = None


class Plan(Struct, frozen=True):
    """The pods to end, each once."""

    ends: tuple[End, ...]


def diff(observed: Observed) -> Plan:
    """Ended pods beyond the limit, pods of vanished nodes, and deleted ones that have no node or one out of service."""
    ends: dict[str, End] = {}
    for pod in _terminated(observed):
        ends[pod.metadata.uid] = End(pod, _failed(pod, observed.now))
    for pod in observed.pods:
        if pod.spec.node_name in observed.vanished:
            ends.setdefault(pod.metadata.uid, End(pod, _failed(pod, observed.now, lost=True)))
        elif pod.metadata.deletion_timestamp and (not pod.spec.node_name or _out_of_service(observed.nodes, pod)):
            ends.setdefault(pod.metadata.uid, End(pod, _failed(pod, observed.now)))
    return Plan(tuple(ends.values()))


def _terminated(observed: Observed) -> list[Pod]:
    """The ended pods that are too many: evicted ones first, then the oldest."""
    if observed.terminated_limit <= 0:
        return []
    ended = [pod for pod in observed.pods if pod.status.phase in _ENDED]
    surplus = len(ended) - observed.terminated_limit
    if surplus <= 0:
        return []
    ended.sort(key=lambda pod: (pod.status.reason != "Evicted", pod.metadata.creation_timestamp, pod.metadata.name))
    return ended[:surplus]


def _out_of_service(nodes: Mapping[str, Node], pod: Pod) -> bool:
    node = nodes.get(pod.spec.node_name)
    if node is None or ready_status(node) == "True":
        return False
    return any(taint.key == OUT_OF_SERVICE for taint in node.spec.taints)


def _failed(pod: Pod, now: float, *, lost: bool = False) -> dict[str, Any] | None:
    """The status of a pod that ends here; None if it ended by itself."""
    if pod.status.phase in _ENDED:
        return None
    status: dict[str, Any] = {"phase": "Failed", "observedGeneration": pod.metadata.generation}
    condition = disruption.condition(pod, REASON, MESSAGE, now) if lost else None
    return {**status, "conditions": [condition]} if condition is not None else status
