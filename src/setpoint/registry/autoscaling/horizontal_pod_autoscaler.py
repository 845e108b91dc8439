"""HorizontalPodAutoscalers, in the form of autoscaling/v2.

Source: `pkg/apis/autoscaling/v2/defaults.go`, `pkg/apis/autoscaling/validation`, `pkg/registry/autoscaling`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery import quantity
from setpoint.api.machinery.status import FieldError, invalid, not_supported, required
from setpoint.registry.autoscaling.metrics import validate_metrics, validate_reference, validate_version
from setpoint.registry.fields import Errors, nonnegatives
from setpoint.registry.pod.validation.resources import amount
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Context, Object

Spec = Mapping[str, Any]

_SELECT = ("Disabled", "Max", "Min")
_POLICY_TYPES = ("Percent", "Pods")
_MAX_WINDOW, _MAX_PERIOD = 3600, 1800


class HorizontalPodAutoscalerStrategy(SpecStatusStrategy):
    """The main endpoint."""

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        spec.setdefault("minReplicas", 1)
        if not spec.get("metrics"):
            target = {"type": "Utilization", "averageUtilization": 80}
            spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
        if spec.get("behavior") is not None:
            spec["behavior"] = _complete(spec["behavior"])

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _validate_spec(obj.get("spec") or {}, None)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return _validate_spec(obj.get("spec") or {}, old.get("spec") or {})


def _validate_spec(spec: Spec, old: Spec | None) -> Errors:
    """One that scales to zero already may go on; so may one whose target has no good version."""
    errors = _replicas(spec, 0 if old is not None and old.get("minReplicas") == 0 else 1)
    target, before = spec.get("scaleTargetRef") or {}, (old or {}).get("scaleTargetRef") or {}
    errors += validate_reference("spec.scaleTargetRef", target)
    if old is None or any(target.get(field, "") != before.get(field, "") for field in ("apiVersion", "kind")):
        core = target.get("kind") == "ReplicationController"
        errors += validate_version("spec.scaleTargetRef.apiVersion", target.get("apiVersion", ""), core=core)
    errors += validate_metrics("spec.metrics", spec.get("metrics") or (), spec.get("minReplicas"))
    for field in ("scaleUp", "scaleDown"):
        rules = (spec.get("behavior") or {}).get(field)
        if rules is not None:
            errors += _rules(f"spec.behavior.{field}", rules)
    return errors


def _complete(behavior: Spec) -> Object:
    """Both directions with their policies; how long to look back when scaling down is the controller's setting."""
    percent = {"type": "Percent", "value": 100, "periodSeconds": 15}
    pods = {"type": "Pods", "value": 4, "periodSeconds": 15}
    up = {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [pods, percent], **_set(behavior.get("scaleUp"))}
    down = {"selectPolicy": "Max", "policies": [dict(percent)], **_set(behavior.get("scaleDown"))}
    for rules in (up, down):
        if rules.get("tolerance") is not None:
            rules["tolerance"] = quantity.canonical(rules["tolerance"])
    return {"scaleUp": up, "scaleDown": down}


def _set(rules: Spec | None) -> Object:
    return {name: value for name, value in (rules or {}).items() if value is not None}


def _replicas(spec: Spec, lowest: int) -> Errors:
    low, high = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    errors: Errors = []
    if low is not None and low < lowest:
        errors.append(invalid("spec.minReplicas", low, f"must be greater than or equal to {lowest}"))
    if high == 0:
        errors.append(required("spec.maxReplicas", "must be set and greater than 0"))
    elif high < 1:
        errors.append(invalid("spec.maxReplicas", high, "must be greater than or equal to 1"))
    if low is not None and high < low:
        errors.append(invalid("spec.maxReplicas", high, "must be greater than or equal to `minReplicas`"))
    return errors


def _rules(path: str, rules: Spec) -> Errors:
    window, select, policies = rules.get("stabilizationWindowSeconds"), rules.get("selectPolicy"), rules.get("policies") or ()
    errors: Errors = []
    if window is not None and window < 0:
        errors.append(invalid(f"{path}.stabilizationWindowSeconds", window, "must be greater than or equal to zero"))
    if window is not None and window > _MAX_WINDOW:
        errors.append(invalid(f"{path}.stabilizationWindowSeconds", window, f"must be less than or equal to {_MAX_WINDOW}"))
    if select is not None and select not in _SELECT:
        errors.append(not_supported(f"{path}.selectPolicy", select, _SELECT))
    if not policies:
        errors.append(required(f"{path}.policies", "must specify at least one Policy"))
    for i, policy in enumerate(policies):
        errors += _policy(f"{path}.policies[{i}]", policy)
    tolerance = rules.get("tolerance")
    if tolerance is not None and amount(tolerance).nanos < 0:
        errors.append(invalid(f"{path}.tolerance", str(amount(tolerance)), "must be greater than or equal to 0"))
    return errors


def _policy(path: str, policy: Spec) -> Errors:
    kind, value, period = policy.get("type", ""), policy.get("value", 0), policy.get("periodSeconds", 0)
    errors: Errors = [] if kind in _POLICY_TYPES else [not_supported(f"{path}.type", kind, _POLICY_TYPES)]
    if value <= 0:
        errors.append(invalid(f"{path}.value", value, "must be greater than zero"))
    if period <= 0:
        errors.append(invalid(f"{path}.periodSeconds", period, "must be greater than zero"))
    if period > _MAX_PERIOD:
        errors.append(invalid(f"{path}.periodSeconds", period, f"must be less than or equal to {_MAX_PERIOD}"))
    return errors


def horizontal_pod_autoscaler_status() -> StatusStrategy:
    """The `status` endpoint."""
    return StatusStrategy(
        HorizontalPodAutoscalerStrategy(),
        validate_status=lambda obj, _: nonnegatives("status", obj.get("status") or {}, "currentReplicas", "desiredReplicas"),
    )
