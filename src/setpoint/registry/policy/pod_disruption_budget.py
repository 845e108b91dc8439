"""PodDisruptionBudgets.

Source: `pkg/apis/policy/validation`, `pkg/registry/policy/poddisruptionbudget`.
"""

from __future__ import annotations

from typing import ClassVar

from setpoint.api.machinery.status import FieldError, invalid, not_supported
from setpoint.registry import go_form
from setpoint.registry.conditions import validate_conditions
from setpoint.registry.fields import Errors, label_selector, nonnegatives
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Context, Object
from setpoint.registry.workload import at_most_all, number_or_percent

_POLICIES = ("AlwaysAllow", "IfHealthyBudget")
_EMPTY_STATUS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")


class PodDisruptionBudgetStrategy(SpecStatusStrategy):
    """The main endpoint."""

    has_generation: ClassVar[bool] = True
    allow_unconditional_update = False
    compares_metadata_on_update: ClassVar[bool] = False

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        obj["status"] = dict.fromkeys(_EMPTY_STATUS, 0)

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors: Errors = []
        if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
            shown = go_form.of({**spec, "selector": go_form.label_selector(spec.get("selector"))}, "PodDisruptionBudgetSpec")
            errors.append(invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set"))
        for field in ("minAvailable", "maxUnavailable"):
            errors += number_or_percent(f"spec.{field}", spec.get(field))
            errors += at_most_all(f"spec.{field}", spec.get(field))
        errors += label_selector("spec.selector", spec.get("selector"))
        policy = spec.get("unhealthyPodEvictionPolicy")
        if policy is not None and policy not in _POLICIES:
            errors.append(not_supported("spec.unhealthyPodEvictionPolicy", policy, _POLICIES))
        return errors


def _validate_status(obj: Object, _old: Object) -> Errors:
    status = obj.get("status") or {}
    errors = validate_conditions("status.conditions", status.get("conditions"))
    return errors + nonnegatives("status", status, *_EMPTY_STATUS)


def pod_disruption_budget_status() -> StatusStrategy:
    """The `status` endpoint."""
    return StatusStrategy(PodDisruptionBudgetStrategy(), validate_status=_validate_status)
