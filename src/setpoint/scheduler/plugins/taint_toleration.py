"""TaintToleration: off nodes whose taints the pod does not tolerate, and rather not onto those it would rather not be on."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from setpoint.api.types.core_v1 import Pod, Taint, Toleration
from setpoint.client.tolerations import PREFER_NO_SCHEDULE, tolerated, untolerated
from setpoint.scheduler.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from setpoint.scheduler.framework import CycleState, Handle, default_normalize
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import Status, unresolvable

REFUSED = unresolvable("node(s) had untolerated taint(s)")


class _Preferred(Struct, frozen=True):
    tolerations: tuple[Toleration, ...]


class TaintToleration:
    """See the module."""

    name = "TaintToleration"
    local = True

    def __init__(self, handle: Handle) -> None: ...

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        taints = node.known.spec.taints
        if not taints or untolerated(pod.spec.tolerations, taints) is None:
            return None
        return REFUSED

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        preferred = (toleration for toleration in pod.spec.tolerations if toleration.effect in ("", PREFER_NO_SCHEDULE))
        state.write(_Preferred(tuple(preferred)))
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        """How many taints the pod would rather avoid."""
        taints = node.known.spec.taints
        if not taints:
            return 0
        tolerations = state.read(_Preferred).tolerations
        return sum(taint.effect == PREFER_NO_SCHEDULE and not tolerated(tolerations, taint) for taint in taints)

    def normalize(self, state: CycleState, pod: Pod, scores: list[int]) -> list[int]:
        return default_normalize(scores, reverse=True)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (
            ClusterEventWithHint(EventResource.NODE, ActionType.ADD | ActionType.TAINT, _node_became_tolerable),
            ClusterEventWithHint(EventResource.POD, ActionType.TOLERATION),
        )


def _node_became_tolerable(pod: Pod, event: ClusterEvent) -> bool:
    def fits(taints: Sequence[Taint]) -> bool:
        return untolerated(pod.spec.tolerations, taints) is None

    return fits(event.new.spec.taints) and not (event.old is not None and fits(event.old.spec.taints))
