"""ReplicationControllers: ReplicaSets' older sister, with a plain map as selector.

Source: `pkg/apis/core/validation/validation.go`, `pkg/registry/core/replicationcontroller`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery.status import FieldError, invalid, required
from setpoint.registry.apps.replica_set import validate_replica_status
from setpoint.registry.fields import Errors, nonnegative
from setpoint.registry.pod.defaults import default_template
from setpoint.registry.pod.validation.template import validate_template
from setpoint.registry.pod.warnings import template_warnings, workload_name_warning
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Context, Object
from setpoint.registry.workload import always_restarted, options, repeated, template_labels, without_deadline


class ReplicationControllerStrategy(SpecStatusStrategy):
    """The main endpoint. A deletion leaves the pods unless it says otherwise."""

    has_generation: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True
    default_propagation: ClassVar[str] = "Orphan"
    selectable_fields: ClassVar[frozenset[str]] = frozenset({"status.replicas"})

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        spec.setdefault("replicas", 1)
        template = spec.get("template")
        if template is None:
            return
        default_template(template)
        labels = (template.get("metadata") or {}).get("labels")
        if labels and not spec.get("selector"):
            spec["selector"] = dict(labels)
        if labels and not obj["metadata"].get("labels"):
            obj["metadata"]["labels"] = dict(labels)

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _validate_spec(obj.get("spec") or {}, None)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return repeated(_validate_spec(obj.get("spec") or {}, old.get("spec") or {}))

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        warnings = workload_name_warning(obj["metadata"].get("name", ""))
        template = obj["spec"].get("template")
        return warnings if template is None else warnings + template_warnings("spec.template", template)

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        template = (obj.get("spec") or {}).get("template")
        return template_warnings("spec.template", template) if template and self.generation_changed(obj, old) else []

    def fields(self, obj: Object) -> Mapping[str, str]:
        return {"status.replicas": str((obj.get("status") or {}).get("replicas") or 0)}


def _validate_spec(spec: Mapping[str, Any], old: Mapping[str, Any] | None) -> Errors:
    selector, template = spec.get("selector") or {}, spec.get("template")
    errors = nonnegative("spec.minReadySeconds", spec.get("minReadySeconds"))
    errors += [] if selector else [required("spec.selector")]
    errors += nonnegative("spec.replicas", spec.get("replicas"))
    if template is None:
        return [*errors, required("spec.template")]
    labels = template_labels(spec)
    if any((labels or {}).get(key) != value for key, value in selector.items()):
        why = "`selector` does not match template `labels`"
        errors.append(invalid("spec.template.metadata.labels", labels, why))
    errors += validate_template("spec.template", template, options(old))
    pod_spec = template.get("spec") or {}
    errors += always_restarted("spec.template.spec", pod_spec)
    return errors + without_deadline("spec.template.spec", pod_spec, "ReplicationController")


def replication_controller_status() -> StatusStrategy:
    """The `status` endpoint."""
    return StatusStrategy(
        ReplicationControllerStrategy(),
        validate_status=lambda obj, _: validate_replica_status(obj.get("status") or {}),
    )
