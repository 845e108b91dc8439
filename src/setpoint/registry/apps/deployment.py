"""Deployments.

Source: `pkg/apis/apps/v1/defaults.go`, `pkg/apis/apps/validation`, `pkg/registry/apps/deployment`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery.status import FieldError, forbidden, invalid, not_supported, required
from setpoint.registry import go_form
from setpoint.registry.fields import Errors, nonnegative, nonnegatives
from setpoint.registry.pod.defaults import default_template
from setpoint.registry.pod.warnings import template_warnings, workload_name_warning
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Context, Object
from setpoint.registry.workload import (
    amount_of,
    annotated_number,
    at_most_all,
    compiled,
    not_above,
    not_decremented,
    number_or_percent,
    selector_immutable,
    validate_pods,
    validate_selector,
)

ROLLBACK = "deprecated.deployment.rollback.to"
_TYPES = ("Recreate", "RollingUpdate")
_COUNTS = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas", "terminatingReplicas")


class DeploymentStrategy(SpecStatusStrategy):
    """The main endpoint."""

    has_generation: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        _settle_rollback(obj)
        spec = obj.setdefault("spec", {})
        default_template(spec.setdefault("template", {}))
        strategy = spec.setdefault("strategy", {})
        strategy["type"] = strategy.get("type") or "RollingUpdate"
        if strategy["type"] == "RollingUpdate":
            rolling = strategy.setdefault("rollingUpdate", {})
            rolling.setdefault("maxUnavailable", "25%")
            rolling.setdefault("maxSurge", "25%")
        spec.setdefault("replicas", 1)
        spec.setdefault("revisionHistoryLimit", 10)
        spec.setdefault("progressDeadlineSeconds", 600)

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _validate_spec(obj, None)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return _validate_spec(obj, old.get("spec") or {}) + selector_immutable(obj, old)

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        warnings = workload_name_warning(obj["metadata"].get("name", ""))
        return warnings + template_warnings("spec.template", obj["spec"]["template"])

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        changed = self.generation_changed(obj, old)
        return template_warnings("spec.template", obj["spec"]["template"]) if changed else []

    def generation_changed(self, obj: Object, old: Object) -> bool:
        """Annotations count too: the rollback's record is one."""
        annotations = [one["metadata"].get("annotations") or {} for one in (obj, old)]
        return obj.get("spec") != old.get("spec") or annotations[0] != annotations[1]


def _settle_rollback(obj: Object) -> None:
    """The revision to go back to stands there as a number is written, or not at all."""
    annotations = obj["metadata"].get("annotations") or {}
    text = annotations.get(ROLLBACK)
    if text is None:
        return
    if text:
        plain = str(annotated_number(obj, ROLLBACK, f"failed to parse annotation[{ROLLBACK}]={text} as int64: "))
        if plain == text:
            return
        rest = {**annotations, ROLLBACK: plain}
    else:
        rest = {name: value for name, value in annotations.items() if name != ROLLBACK}
    obj["metadata"]["annotations"] = rest


def _validate_spec(obj: Object, old: Mapping[str, Any] | None) -> Errors:
    """With the revision to go back to, which was a field of it."""
    spec = obj.get("spec") or {}
    errors = nonnegative("spec.replicas", spec.get("replicas"))
    selector = spec.get("selector")
    errors += validate_selector("spec.selector", selector, "deployment")
    if compiled(selector) is None:
        errors.append(invalid("spec.selector", go_form.label_selector(selector), "invalid label selector"))
    else:
        errors += validate_pods("spec", spec, old, "ReplicaSet")
    errors += _rollout("spec.strategy", spec.get("strategy") or {})
    errors += nonnegatives("spec", spec, "minReadySeconds", "revisionHistoryLimit")
    errors += nonnegative("spec.rollback.version", annotated_number(obj, ROLLBACK))
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None:
        errors += nonnegative("spec.progressDeadlineSeconds", deadline)
        if deadline <= spec.get("minReadySeconds", 0):
            errors.append(invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"))
    return errors


def _rollout(path: str, strategy: Mapping[str, Any]) -> Errors:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "Recreate":
        why = "may not be specified when strategy `type` is 'Recreate'"
        return [] if rolling is None else [forbidden(f"{path}.rollingUpdate", why)]
    if kind != "RollingUpdate":
        return [not_supported(path, go_form.of(strategy, "DeploymentStrategy"), _TYPES)]
    if rolling is None:
        return [required(f"{path}.rollingUpdate", "this should be defaulted and never be nil")]
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    errors = number_or_percent(f"{path}.rollingUpdate.maxUnavailable", unavailable)
    errors += number_or_percent(f"{path}.rollingUpdate.maxSurge", surge)
    if amount_of(unavailable) == 0 and amount_of(surge) == 0:
        why = "may not be 0 when `maxSurge` is 0"
        errors.append(invalid(f"{path}.rollingUpdate.maxUnavailable", unavailable, why))
    return errors + at_most_all(f"{path}.rollingUpdate.maxUnavailable", unavailable)


def _validate_status(obj: Object, old: Object) -> Errors:
    status, before = obj.get("status") or {}, old.get("status") or {}
    errors = nonnegatives("status", status, "observedGeneration", *_COUNTS, "collisionCount")
    errors += not_above("status", status, ("updatedReplicas", "readyReplicas", "availableReplicas"), "replicas")
    errors += not_above("status", status, ("availableReplicas",), "readyReplicas")
    return errors + not_decremented("status.collisionCount", status.get("collisionCount"), before.get("collisionCount"))


def deployment_status() -> StatusStrategy:
    """The `status` endpoint: labels stay, too."""
    return StatusStrategy(DeploymentStrategy(), keep_metadata=("labels",), validate_status=_validate_status)
