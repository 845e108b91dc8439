"""NodeResourcesBalancedAllocation: rather where the pod would bring cpu and memory (or other resources) nearer to equal use.

A node's balance is 100 minus a hundred times the standard deviation of the used fractions, so 50 at worst. The score is by how
much the pod changes it: 75 when not at all, 50 to 100. Pods that ask for nothing are left out: they would all go to one node.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.framework import MAX_SCORE, CycleState, Handle
from setpoint.scheduler.plugin_config import CPU_AND_MEMORY, NodeResourcesBalancedAllocationArgs
from setpoint.scheduler.resources import PLAIN
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import SKIP, Status

DEFAULT_ARGS = NodeResourcesBalancedAllocationArgs()


class NodeResourcesBalancedAllocation:
    """See the module."""

    name = "NodeResourcesBalancedAllocation"
    local = True

    def __init__(self, handle: Handle, args: NodeResourcesBalancedAllocationArgs = DEFAULT_ARGS) -> None:
        self._names = [each.name for each in args.resources or CPU_AND_MEMORY]

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        requests = state.info.requests
        return None if any(requests.get(name) for name in self._names) else SKIP

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        requests, used = state.info.requests, node.requested
        before: list[float] = []
        after: list[float] = []
        for name in self._names:
            have, more = node.allocatable.get(name, 0), requests.get(name, 0)
            if have and (more or name in PLAIN):
                taken = used.get(name, 0)
                before.append(min(1.0, taken / have))
                after.append(min(1.0, (taken + more) / have))
        return MAX_SCORE // 2 + (MAX_SCORE // 2 + _balance(after) - _balance(before)) // 2


def _balance(fractions: Sequence[float]) -> int:
    return int((1 - _deviation(fractions)) * MAX_SCORE)


def _deviation(fractions: Sequence[float]) -> float:
    if len(fractions) < 2:
        return 0.0
    if len(fractions) == 2:
        return abs(fractions[0] - fractions[1]) / 2
    mean = sum(fractions) / len(fractions)
    return math.sqrt(sum((each - mean) ** 2 for each in fractions) / len(fractions))
