"""NodeUnschedulable: off cordoned nodes, unless the pod tolerates the taint that stands for it."""

from __future__ import annotations

from collections.abc import Sequence

from setpoint.api.types.core_v1 import Pod, Taint
from setpoint.client.tolerations import NO_SCHEDULE, tolerated
from setpoint.scheduler.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from setpoint.scheduler.framework import CycleState, Handle
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import Status, unresolvable

CORDON = Taint(key="node.kubernetes.io/unschedulable", effect=NO_SCHEDULE)
REFUSED = unresolvable("node(s) were unschedulable")


class NodeUnschedulable:
    """See the module."""

    name = "NodeUnschedulable"
    local = True

    def __init__(self, handle: Handle) -> None: ...

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        if not node.known.spec.unschedulable or tolerated(pod.spec.tolerations, CORDON):
            return None
        return REFUSED

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (
            ClusterEventWithHint(EventResource.NODE, ActionType.ADD | ActionType.TAINT, _node_became_schedulable),
            ClusterEventWithHint(EventResource.POD, ActionType.TOLERATION),
        )


def _node_became_schedulable(_: Pod, event: ClusterEvent) -> bool:
    was_open = event.old is not None and not event.old.spec.unschedulable
    return not event.new.spec.unschedulable and not was_open
