"""ReplicaSets.

Source: `pkg/apis/apps/v1/defaults.go`, `pkg/apis/apps/validation`, `pkg/registry/apps/replicaset`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery.status import FieldError, invalid
from setpoint.registry import go_form
from setpoint.registry.fields import Errors, nonnegatives
from setpoint.registry.pod.defaults import default_template
from setpoint.registry.pod.warnings import template_warnings, workload_name_warning
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Context, Object
from setpoint.registry.workload import compiled, not_above, repeated, selector_immutable, validate_pods, validate_selector

_COUNTS = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "terminatingReplicas")


class ReplicaSetStrategy(SpecStatusStrategy):
    """The main endpoint."""

    has_generation: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        spec.setdefault("replicas", 1)
        default_template(spec.setdefault("template", {}))

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _validate_spec(obj.get("spec") or {}, None)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return repeated(_validate_spec(obj.get("spec") or {}, old.get("spec") or {})) + selector_immutable(obj, old)

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        warnings = workload_name_warning(obj["metadata"].get("name", ""))
        return warnings + template_warnings("spec.template", obj["spec"]["template"])

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        changed = self.generation_changed(obj, old)
        return template_warnings("spec.template", obj["spec"]["template"]) if changed else []


def _validate_spec(spec: Mapping[str, Any], old: Mapping[str, Any] | None) -> Errors:
    errors = nonnegatives("spec", spec, "replicas", "minReadySeconds")
    selector = spec.get("selector")
    errors += validate_selector("spec.selector", selector, "deployment")
    if compiled(selector) is None:
        return [*errors, invalid("spec.selector", go_form.label_selector(selector), "invalid label selector")]
    return errors + validate_pods("spec", spec, old, "ReplicaSet")


def validate_replica_status(status: Mapping[str, Any]) -> Errors:
    """Of ReplicaSets and ReplicationControllers."""
    errors = nonnegatives("status", status, *_COUNTS, "observedGeneration")
    errors += not_above("status", status, ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"), "replicas")
    return errors + not_above("status", status, ("availableReplicas",), "readyReplicas")


def replica_set_status() -> StatusStrategy:
    """The `status` endpoint."""
    return StatusStrategy(ReplicaSetStrategy(), validate_status=lambda obj, _: validate_replica_status(obj.get("status") or {}))
