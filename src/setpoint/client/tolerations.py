"""Which tolerations stand up to which taints (api/core/v1, `ToleratesTaint`)."""

from __future__ import annotations

from collections.abc import Iterable

from setpoint.api.types.core_v1 import Taint, Toleration

NO_SCHEDULE, NO_EXECUTE, PREFER_NO_SCHEDULE = "NoSchedule", "NoExecute", "PreferNoSchedule"


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """An empty effect or key stands for all, the operator Exists for any value; Lt and Gt compare the taint's number."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case "Lt" | "Gt":
            return _compares(toleration, taint)
    return False


def _compares(toleration: Toleration, taint: Taint) -> bool:
    try:
        limit, value = int(toleration.value), int(taint.value)
    except ValueError:
        return False
    return value < limit if toleration.operator == "Lt" else value > limit


def tolerated(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    return any(tolerates(toleration, taint) for toleration in tolerations)


def untolerated(tolerations: Iterable[Toleration], taints: Iterable[Taint]) -> Taint | None:
    """The first taint that keeps a new pod off the node."""
    tolerations = tuple(tolerations)
    for taint in taints:
        if taint.effect in (NO_SCHEDULE, NO_EXECUTE) and not tolerated(tolerations, taint):
            return taint
    return None
