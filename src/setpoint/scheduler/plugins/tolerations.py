"""Which tolerations stand up to which taints (api/core/v1, `ToleratesTaint`)."""

from __future__ import annotations

from collections.abc import Iterable

from setpoint.api.types.core_v1 import Taint, Toleration

NO_SCHEDULE, NO_EXECUTE, PREFER_NO_SCHEDULE = "NoSchedule", "NoExecute", "PreferNoSchedule"


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """An empty effect stands for all effects; Exists with an empty key for all taints."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.key == taint.key and toleration.value == taint.value
    return toleration.operator == "Exists"


def tolerated(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    return any(tolerates(toleration, taint) for toleration in tolerations)


def untolerated(tolerations: Iterable[Toleration], taints: Iterable[Taint]) -> Taint | None:
    """The first taint that keeps a new pod off the node."""
    tolerations = tuple(tolerations)
    for taint in taints:
        if taint.effect in (NO_SCHEDULE, NO_EXECUTE) and not tolerated(tolerations, taint):
            return taint
    return None
