"""The decision over one pod on one node. Pure and synchronous.

The rules are `taint_eviction.go`'s processPodOnNode: an eviction that is scheduled stays scheduled for its moment until every
taint is tolerated for ever or gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from setpoint.api.types.core_v1 import Pod, Taint, Toleration
from setpoint.client.tolerations import tolerates


class Observed(Struct, frozen=True):
    """A pod, the NoExecute taints of its node, and when it is scheduled to go (None: it is not)."""

    pod: Pod
    taints: Sequence[Taint]
    due: float | None
    now: float


class Action(Enum):
    """What to do with the pod."""

    EVICT = "evict"
    SCHEDULE = "schedule"
    CANCEL = "cancel"


class Plan(Struct, frozen=True):
    """`due` is when it goes, for SCHEDULE."""

    pod: Pod
    action: Action
    due: float = 0.0


def diff(observed: Observed) -> Plan | None:
    """Evict, schedule, cancel; None for nothing."""
    pod, now = observed.pod, observed.now
    if pod.metadata.deletion_timestamp:
        return None
    seconds = tolerated_for(observed.taints, pod.spec.tolerations)
    if seconds is None:
        return Plan(pod, Action.CANCEL) if observed.due is not None else None
    if seconds <= 0:
        return Plan(pod, Action.EVICT)
    due = observed.due if observed.due is not None else now + seconds
    return Plan(pod, Action.EVICT) if due <= now else Plan(pod, Action.SCHEDULE, due)


def tolerated_for(taints: Sequence[Taint], tolerations: Sequence[Toleration]) -> float | None:
    """Seconds for which all taints are tolerated: 0 if one is not, None for ever. The first toleration of each taint counts."""
    limits: list[float] = []
    for taint in taints:
        used = next((each for each in tolerations if tolerates(each, taint)), None)
        if used is None:
            return 0.0
        if used.toleration_seconds is not None:
            limits.append(max(0.0, float(used.toleration_seconds)))
    return min(limits) if limits else None
