"""SchedulingGates: a pod stays out of the queue while `spec.schedulingGates` names anything (KEP-3521)."""

from __future__ import annotations

from collections.abc import Sequence

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.events import ActionType, ClusterEventWithHint, EventResource
from setpoint.scheduler.framework import Handle
from setpoint.scheduler.status import Status, unresolvable


class SchedulingGates:
    """See the module."""

    name = "SchedulingGates"

    def __init__(self, handle: Handle) -> None: ...

    def pre_enqueue(self, pod: Pod) -> Status | None:
        if not pod.spec.scheduling_gates:
            return None
        gates = " ".join(gate.name for gate in pod.spec.scheduling_gates)
        return unresolvable(f"waiting for scheduling gates: [{gates}]")

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (ClusterEventWithHint(EventResource.POD, ActionType.GATES_GONE),)
