"""NodeDeclaredFeatures: a pod that needs what not every kubelet can do goes to nodes that say they can (KEP-5328)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.events import ActionType, ClusterEventWithHint, EventResource
from setpoint.scheduler.framework import CycleState, Handle, PreFilterResult
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import SKIP, Status, unresolvable

REFUSED = unresolvable("node(s) didn't match Pod's required features")


NOTHING_NEEDED = (None, SKIP)


class _Needed(Struct, frozen=True):
    features: frozenset[str]


class NodeDeclaredFeatures:
    """See the module."""

    name = "NodeDeclaredFeatures"

    def __init__(self, handle: Handle) -> None: ...

    def pre_filter(self, state: CycleState, pod: Pod) -> tuple[PreFilterResult | None, Status | None]:
        spec = pod.spec
        for container in (*spec.init_containers, *spec.containers) if spec.init_containers else spec.containers:
            if container.restart_policy_rules:
                break
        else:
            if not spec.host_network:  # nearly every pod
                return NOTHING_NEEDED
        needed = frozenset(_needed(pod))
        if not needed:
            return NOTHING_NEEDED
        state.write(_Needed(needed))
        return None, None

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        return None if state.read(_Needed).features.issubset(node.known.status.declared_features) else REFUSED

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (ClusterEventWithHint(EventResource.NODE, ActionType.ADD | ActionType.FEATURES),)


def _needed(pod: Pod) -> Iterator[str]:
    """What the pod takes of a kubelet, by the features' names."""
    spec = pod.spec
    for container in (*spec.init_containers, *spec.containers):
        if any(rule.action == "RestartAllContainers" for rule in container.restart_policy_rules):
            yield "RestartAllContainersOnContainerExits"
    if spec.host_network and spec.host_users is False:
        yield "UserNamespacesHostNetworkSupport"
