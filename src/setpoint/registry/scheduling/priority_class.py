"""PriorityClasses.

Source: `pkg/registry/scheduling/priorityclass`, `pkg/apis/scheduling/validation`, `pkg/apis/scheduling/v1/defaults.go`.
"""

from __future__ import annotations

from typing import ClassVar

from setpoint.api.machinery.status import FieldError, forbidden, not_supported, required
from setpoint.registry.fields import Errors, immutable
from setpoint.registry.spec_status import fill
from setpoint.registry.strategy import Context, Object, Strategy

_RESERVED = "system-"
_HIGHEST = 1_000_000_000
_POLICIES = ("PreemptLowerPriority", "Never")
#: name → value, whether it is the global default, description
_SYSTEM = {
    "system-node-critical": (
        2_000_001_000,
        False,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    "system-cluster-critical": (
        2_000_000_000,
        False,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
}


class PriorityClassStrategy(Strategy):
    """What a class is worth is for life, so the generation never rises."""

    has_generation: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        fill(obj, "preemptionPolicy", "PreemptLowerPriority")

    def generation_changed(self, obj: Object, old: Object) -> bool:
        return False

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        name, value = obj["metadata"].get("name", ""), obj.get("value", 0)
        errors: Errors = []
        if name.startswith(_RESERVED):
            errors += _known(name, obj)
        elif value > _HIGHEST:
            errors.append(forbidden("value", f"maximum allowed value of a user defined priority is {_HIGHEST}"))
        policy = obj.get("preemptionPolicy")
        if policy == "":
            errors.append(required("preemptionPolicy"))
        elif policy is not None and policy not in _POLICIES:
            errors.append(not_supported("preemptionPolicy", policy, _POLICIES))
        return errors

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        errors: Errors = []
        if obj.get("value", 0) != old.get("value", 0):
            errors.append(forbidden("value", "may not be changed in an update."))
        return errors + immutable("preemptionPolicy", obj.get("preemptionPolicy"), old.get("preemptionPolicy"))


def _known(name: str, obj: Object) -> Errors:
    """The names of the system's own classes are taken, and those are as they are."""
    known = _SYSTEM.get(name)
    why = ""
    if known is None:
        why = f"{name} is not a known system priority class"
    elif obj.get("value", 0) != known[0]:
        why = f"value of {name} PriorityClass must be {known[0]}"
    elif bool(obj.get("globalDefault")) != known[1]:
        why = f"globalDefault of {name} PriorityClass must be {str(known[1]).lower()}"
    if not why:
        return []
    text = f"priority class names with '{_RESERVED}' prefix are reserved for system use only. error: {why}"
    return [forbidden("metadata.name", text)]
