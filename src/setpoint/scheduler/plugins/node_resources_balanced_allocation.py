"""NodeResourcesBalancedAllocation: rather where cpu and memory (or other resources) would be used to the same degree.

The score is 100 minus a hundred times the standard deviation of the used fractions. Pods that ask for nothing are left out: they
would all go to the most balanced node.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.framework import MAX_SCORE, CycleState, Handle
from setpoint.scheduler.plugin_config import NodeResourcesBalancedAllocationArgs
from setpoint.scheduler.resources import CPU, MEMORY
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import SKIP, Status

DEFAULT_ARGS = NodeResourcesBalancedAllocationArgs()


class NodeResourcesBalancedAllocation:
    """See the module."""

    name = "NodeResourcesBalancedAllocation"
    local = True

    def __init__(self, handle: Handle, args: NodeResourcesBalancedAllocationArgs = DEFAULT_ARGS) -> None:
        self._names = [each.name for each in args.resources]

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        requests = state.info.requests
        return None if any(requests.get(name) for name in self._names) else SKIP

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        asked = (name for name in self._names if name in (CPU, MEMORY) or state.info.requests.get(name))
        fractions = [used for name in asked if (used := _fraction(state, node, name)) is not None]
        return int((1 - _deviation(fractions)) * MAX_SCORE)


def _deviation(fractions: Sequence[float]) -> float:
    if len(fractions) < 2:
        return 0.0
    if len(fractions) == 2:
        return abs(fractions[0] - fractions[1]) / 2
    mean = sum(fractions) / len(fractions)
    return math.sqrt(sum((each - mean) ** 2 for each in fractions) / len(fractions))


def _fraction(state: CycleState, node: NodeInfo, name: str) -> float | None:
    have = node.allocatable.get(name, 0)
    if not have:
        return None
    return min(1.0, (node.requested.get(name, 0) + state.info.requests.get(name, 0)) / have)
