"""NodeResourcesFit: the node has what the pod asks for; how full it would be is its score, by the strategy of the arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from setpoint.api.types.core_v1 import Node, Pod
from setpoint.api.types.resource_v1 import DEVICECLASSES
from setpoint.scheduler.devices.extended import ExtendedResources, names_of
from setpoint.scheduler.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from setpoint.scheduler.framework import CycleState, Handle
from setpoint.scheduler.plugin_config import CPU_AND_MEMORY, NodeResourcesFitArgs
from setpoint.scheduler.plugins.resource_scoring import rate_of
from setpoint.scheduler.resources import CPU, EPHEMERAL, MEMORY, PLAIN, PODS, Amounts, amounts, pod_requests
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import Code, Status

TOO_MANY_PODS = "Too many pods"


class Shortage(Struct, frozen=True):
    """One resource that the node is short of; `hopeless` when even the empty node would be."""

    reason: str
    hopeless: bool
    resource: str = PODS


def shortages(requests: Amounts, node: NodeInfo) -> Iterator[Shortage]:
    if len(node.pods) + 1 > node.allowed_pods:
        yield Shortage(TOO_MANY_PODS, hopeless=False)
    allocatable, requested = node.allocatable, node.requested
    for name, wanted in requests.items():
        if wanted <= 0 or name == PODS:
            continue
        have = allocatable.get(name, 0)
        if wanted > have - requested.get(name, 0):
            yield Shortage(f"Insufficient {name}", hopeless=wanted > have, resource=name)


DEFAULT_ARGS = NodeResourcesFitArgs()


class NodeResourcesFit:
    """See the module."""

    name = "NodeResourcesFit"
    local = True

    def __init__(self, handle: Handle, args: NodeResourcesFitArgs = DEFAULT_ARGS) -> None:
        self._args = args
        self._extended = ExtendedResources(handle.listers)
        self._handle = handle
        handle.listers.on_change(DEVICECLASSES, self._classes_changed)
        self._rate = rate_of(args.scoring_strategy)
        self._scored = [(each.name, each.weight or 1) for each in args.scoring_strategy.resources or CPU_AND_MEMORY]
        self._skips_zero = args.scoring_strategy.type == "RequestedToCapacityRatio"

    def _classes_changed(self) -> None:
        self._handle.profile.forget()

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        found = [*shortages(self._counted(state.info.requests), node)]
        found = [each for each in found if not self._is_for_drivers(each.resource, node)]
        if not found:
            return None
        hopeless = any(shortage.hopeless for shortage in found)
        code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE if hopeless else Code.UNSCHEDULABLE
        return Status(code, tuple(shortage.reason for shortage in found))

    def _is_for_drivers(self, name: str, node: NodeInfo) -> bool:
        """The node has none of it, but a device class stands for it: DynamicResources looks for devices."""
        return "/" in name and not node.allocatable.get(name) and self._extended.class_of(name) is not None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        total = weights = 0
        wanted, requested = state.info.non_zero, node.non_zero
        for name, weight in self._scored:
            have = node.allocatable.get(name, 0)
            if not have or (name not in PLAIN and not wanted.get(name)):
                continue  # the node has none, or the pod does not ask for it
            rated = self._rate(requested.get(name, 0) + wanted.get(name, 0), have)
            if self._skips_zero and not rated:
                continue
            total += rated * weight
            weights += weight
        if self._skips_zero:
            return int(total / weights + 0.5) if weights else 0
        return total // weights if weights else 0

    def _counted(self, requests: Amounts) -> Amounts:
        """The requests without extended resources that an extender looks after."""
        names, groups = self._args.ignored_resources, self._args.ignored_resource_groups
        if not names and not groups:
            return requests
        return {name: value for name, value in requests.items() if name not in names and name.partition("/")[0] not in groups}

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (
            ClusterEventWithHint(EventResource.ASSIGNED_POD, ActionType.DELETE | ActionType.SCALE_DOWN),
            ClusterEventWithHint(EventResource.NODE, ActionType.ADD | ActionType.ALLOCATABLE, self._node_could_fit),
            ClusterEventWithHint(EventResource.POD, ActionType.SCALE_DOWN),
            ClusterEventWithHint(EventResource.DEVICE_CLASS, ActionType.ADD | ActionType.OTHER, _class_stands_for),
        )

    def _node_could_fit(self, pod: Pod, event: ClusterEvent) -> bool:
        """The node, were it empty, has room, and it gained some of what the pod asks for."""
        requests = pod_requests(pod)
        after = _allocatable(event.new)
        short = [name for name, wanted in requests.items() if wanted > after.get(name, 0)]
        if any(after.get(name) or self._extended.class_of(name) is None for name in short):
            return False
        if event.old is None:
            return True
        before = _allocatable(event.old)
        names = {*requests, CPU, MEMORY, EPHEMERAL, PODS}
        return any(after.get(name, 0) > before.get(name, 0) for name in names)


def _class_stands_for(pod: Pod, event: ClusterEvent) -> bool:
    """A class came, or was changed, to stand for a resource of the pod."""
    return event.new is not None and not names_of(event.new).isdisjoint(pod_requests(pod))


def _allocatable(node: Node) -> Amounts:
    return amounts(node.status.allocatable)
