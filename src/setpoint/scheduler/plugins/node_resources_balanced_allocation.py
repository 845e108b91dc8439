"""NodeResourcesBalancedAllocation: rather where cpu and memory would be used to the same degree.

The score is 100 minus a hundred times the standard deviation of the used fractions. Pods that ask for nothing are left out: they
would all go to the most balanced node.
"""

from __future__ import annotations

from collections.abc import Sequence

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.framework import MAX_SCORE, CycleState, Handle
from setpoint.scheduler.resources import CPU, MEMORY
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import SKIP, Status


class NodeResourcesBalancedAllocation:
    """See the module."""

    name = "NodeResourcesBalancedAllocation"
    local = True

    def __init__(self, handle: Handle) -> None: ...

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        requests = state.info.requests
        return None if requests.get(CPU) or requests.get(MEMORY) else SKIP

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        cpu, memory = _fraction(state, node, CPU), _fraction(state, node, MEMORY)
        deviation = 0.0 if cpu is None or memory is None else abs(cpu - memory) / 2
        return int((1 - deviation) * MAX_SCORE)


def _fraction(state: CycleState, node: NodeInfo, name: str) -> float | None:
    have = node.allocatable.get(name, 0)
    if not have:
        return None
    return min(1.0, (node.requested.get(name, 0) + state.info.requests.get(name, 0)) / have)
