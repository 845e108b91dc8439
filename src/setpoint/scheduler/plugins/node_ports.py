"""NodePorts: a host port can be used once per protocol and address; 0.0.0.0 is every address."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from setpoint.scheduler.framework import CycleState, Handle, PreFilterResult
from setpoint.scheduler.pods import ANY_ADDRESS, PortKey, host_ports
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import SKIP, Status, unschedulable

REFUSED = unschedulable("node(s) didn't have free ports for the requested pod ports")


def conflicts(wanted: Iterable[PortKey], used: Collection[PortKey]) -> bool:
    if not used:
        return False
    for address, protocol, port in wanted:
        if address == ANY_ADDRESS:
            if any((protocol, port) == (other_protocol, other_port) for _, other_protocol, other_port in used):
                return True
        elif (address, protocol, port) in used or (ANY_ADDRESS, protocol, port) in used:
            return True
    return False


class NodePorts:
    """See the module."""

    name = "NodePorts"
    local = True

    def __init__(self, handle: Handle) -> None: ...

    def pre_filter(self, state: CycleState, pod: Pod) -> tuple[PreFilterResult | None, Status | None]:
        return None, None if state.info.ports else SKIP

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        return REFUSED if conflicts(state.info.ports, node.ports) else None

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (
            ClusterEventWithHint(EventResource.ASSIGNED_POD, ActionType.DELETE, _port_became_free),
            ClusterEventWithHint(EventResource.NODE, ActionType.ADD),
        )


def _port_became_free(pod: Pod, event: ClusterEvent) -> bool:
    return conflicts(host_ports(pod), host_ports(event.old))
