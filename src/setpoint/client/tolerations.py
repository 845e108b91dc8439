"""Which tolerations stand up to which taints (api/core/v1, `ToleratesTaint`)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from setpoint.api.types.core_v1 import Taint, Toleration

NO_SCHEDULE, NO_EXECUTE, PREFER_NO_SCHEDULE = "NoSchedule", "NoExecute", "PreferNoSchedule"
_decimal = re.compile("0|-?[1-9][0-9]{0,18}").fullmatch


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
    limit, value = _number(toleration.value), _number(taint.value)
    if limit is None or value is None:
        return False
    return value < limit if toleration.operator == "Lt" else value > limit


def _number(text: str) -> int | None:
    """A whole number of 64 bits as one writes it by hand: no plus, no zeros in front, no underscores."""
    number = int(text) if _decimal(text) else None
    return number if number is not None and -(2**63) <= number < 2**63 else None


def tolerated(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    return any(tolerates(toleration, taint) for toleration in tolerations)


def untolerated(tolerations: Iterable[Toleration], taints: Iterable[Taint]) -> Taint | None:
    """The first taint that keeps a new pod off the node."""
    tolerations = tuple(tolerations)
    for taint in taints:
        if taint.effect in (NO_SCHEDULE, NO_EXECUTE) and not tolerated(tolerations, taint):
            return taint
    return None
