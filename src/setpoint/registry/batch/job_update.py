"""What may change in a Job: counts and deadlines; the template's scheduling while it is suspended and has not begun.

Source: `pkg/apis/batch/validation` (ValidateJobSpecUpdate), KEP-2926.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.status import invalid
from setpoint.registry import go_form
from setpoint.registry.batch.job_spec import validate_job_spec
from setpoint.registry.fields import Errors
from setpoint.registry.pod.validation.options import Options

Spec = Mapping[str, Any]

_IMMUTABLE = "field is immutable"
_SCHEDULING = ("nodeSelector", "tolerations", "schedulingGates")
_SHAPES = {"podFailurePolicy": "PodFailurePolicy", "successPolicy": "SuccessPolicy"}


def validate_job_spec_update(path: str, spec: Spec, old: Spec, status: Spec, options: Options) -> Errors:
    errors = validate_job_spec(path, spec, options)
    errors += _completions(path, spec, old)
    if spec.get("selector") != old.get("selector"):
        errors.append(invalid(f"{path}.selector", go_form.label_selector(spec.get("selector")), _IMMUTABLE))
    errors += _template(path, spec, old, status)
    for field in ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"):
        new = spec.get(field)
        if new != old.get(field):
            shown = go_form.of(new, _SHAPES[field]) if new is not None and field in _SHAPES else new
            errors.append(invalid(f"{path}.{field}", shown, _IMMUTABLE))
    return errors


def _completions(path: str, spec: Spec, old: Spec) -> Errors:
    new = spec.get("completions")
    if new == old.get("completions"):
        return []
    if spec.get("completionMode") != "Indexed":
        return [invalid(f"{path}.completions", new, _IMMUTABLE)]
    if new is None or new == spec.get("parallelism"):
        return []
    return [invalid(f"{path}.completions", new, f"can only be modified in tandem with {path}.parallelism")]


def _template(path: str, spec: Spec, old: Spec, status: Spec) -> Errors:
    template, before = spec.get("template") or {}, old.get("template") or {}
    if template == before:
        return []
    if _at_rest(old, status):
        munged = _unscheduled(template, before)
        shown = go_form.pod_spec(munged)
        if go_form.equal(shown, go_form.pod_spec(before.get("spec") or {})):
            return []
        return [invalid(f"{path}.template.spec", go_form.pod_spec(template.get("spec") or {}), _IMMUTABLE)]
    if go_form.equal(*(go_form.pod_spec(one.get("spec") or {}) for one in (template, before))) and not _metadata_differs(
        template, before
    ):
        return []
    return [invalid(f"{path}.template", _printed(template), _IMMUTABLE)]


def _at_rest(old: Spec, status: Spec) -> bool:
    """Suspended, with no pods: it never began, or the controller has said that it is suspended."""
    if not old.get("suspend") or status.get("active"):
        return False
    conditions = status.get("conditions") or ()
    return not status.get("startTime") or any(
        one.get("type") == "Suspended" and one.get("status") == "True" for one in conditions
    )


def _metadata_differs(template: Spec, before: Spec) -> bool:
    return (template.get("metadata") or {}) != (before.get("metadata") or {})


def _printed(template: Spec) -> dict[str, Any]:
    """A PodTemplateSpec: metadata as on the wire, the spec as Go has it."""
    metadata = template.get("metadata") or {}
    fields = ("name", "generateName", "labels", "annotations")
    shown = {
        name: dict(sorted(metadata[name].items())) if isinstance(metadata[name], dict) else metadata[name]
        for name in fields
        if metadata.get(name)
    }
    return {**shown, "Spec": go_form.pod_spec(template.get("spec") or {})}


def _unscheduled(template: Spec, before: Spec) -> dict[str, Any]:
    """The new pod spec with what may change in a suspended Job set back."""
    spec, old = dict(template.get("spec") or {}), before.get("spec") or {}
    for field in _SCHEDULING:
        _restore(spec, old, field)
    affinity = {name: value for name, value in (spec.get("affinity") or {}).items() if name != "nodeAffinity"}
    node = (old.get("affinity") or {}).get("nodeAffinity")
    if node is not None:
        affinity["nodeAffinity"] = node
    if affinity or old.get("affinity") is not None:
        spec["affinity"] = affinity
    else:
        spec.pop("affinity", None)
    for field in ("containers", "initContainers"):
        resources = {one.get("name"): one.get("resources") for one in old.get(field) or ()}
        if spec.get(field):
            spec[field] = [
                {**one, "resources": resources[one.get("name")]} if one.get("name") in resources else one for one in spec[field]
            ]
    return spec


def _restore(spec: dict[str, Any], old: Spec, field: str) -> None:
    if field in old:
        spec[field] = old[field]
    else:
        spec.pop(field, None)
