"""NodeName: a pod that names its node fits no other. Such pods do not pass the scheduler: it is for those who ask its filters."""

from __future__ import annotations

from collections.abc import Sequence

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.events import ActionType, ClusterEventWithHint, EventResource
from setpoint.scheduler.framework import CycleState, Handle, PreFilterResult
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import SKIP, Status, unresolvable

REFUSED = unresolvable("node(s) didn't match the requested node name")


class NodeName:
    """See the module."""

    name = "NodeName"
    local = True

    def __init__(self, handle: Handle) -> None: ...

    def pre_filter(self, state: CycleState, pod: Pod) -> tuple[PreFilterResult | None, Status | None]:
        return None, None if pod.spec.node_name else SKIP

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        return None if pod.spec.node_name in ("", node.name) else REFUSED

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (ClusterEventWithHint(EventResource.NODE, ActionType.ADD),)
