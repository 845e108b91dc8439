"""Jobs.

Source: `pkg/registry/batch/job/strategy.go`, `pkg/apis/batch/v1/defaults.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, invalid, required
from setpoint.registry import go_form
from setpoint.registry.batch.job_spec import validate_job_spec
from setpoint.registry.batch.job_status import validate_job_status
from setpoint.registry.batch.job_update import validate_job_spec_update
from setpoint.registry.batch.warnings import job_warnings
from setpoint.registry.fields import Errors
from setpoint.registry.pod.defaults import default_template
from setpoint.registry.pod.warnings import workload_name_warning
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Context, Object
from setpoint.registry.workload import compiled, options

UID_LABELS = ("batch.kubernetes.io/controller-uid", "controller-uid")
NAME_LABELS = ("batch.kubernetes.io/job-name", "job-name")
_MAX_INT32 = 2**31 - 1


class JobStrategy(SpecStatusStrategy):
    """The main endpoint. A deleted Job leaves its pods unless the deletion says otherwise."""

    has_generation: ClassVar[bool] = True
    default_propagation: ClassVar[str] = "Orphan"
    default_propagation_warning: ClassVar[str] = (
        "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set"
        " propagationPolicy=Orphan to suppress this warning"
    )
    validates_whole_on_update: ClassVar[bool] = True
    selectable_fields: ClassVar[frozenset[str]] = frozenset({"status.successful"})

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        default_job_spec(spec)
        _inherit_labels(obj)

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        super().prepare_for_create(context, obj)
        if not obj["spec"].get("manualSelector"):
            _generate_selector(obj)

    def canonicalise(self, obj: Object) -> None:
        """Labels that the server has just given the pods are the Job's, too, though nobody checks them there."""
        _inherit_labels(obj)

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _validate_job(obj, None)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        errors = _validate_job(obj, old)
        loose = options(old.get("spec") or {})
        return errors + validate_job_spec_update("spec", obj["spec"], old.get("spec") or {}, old.get("status") or {}, loose)

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        return workload_name_warning(obj["metadata"].get("name", "")) + job_warnings("spec", obj["spec"])

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        return job_warnings("spec", obj["spec"]) if self.generation_changed(obj, old) else []

    def fields(self, obj: Object) -> Mapping[str, str]:
        return {"status.successful": str((obj.get("status") or {}).get("succeeded") or 0)}


def default_job_spec(spec: Object) -> None:
    """A Job's own spec; a CronJob's template is completed only when a Job is made of it."""
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", 6 if spec.get("backoffLimitPerIndex") is None else _MAX_INT32)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("manualSelector", False)
    default_failure_policy(spec)
    spec.setdefault("podReplacementPolicy", "TerminatingOrFailed" if spec.get("podFailurePolicy") is None else "Failed")
    default_template(spec.setdefault("template", {}))


def default_failure_policy(spec: Object) -> None:
    for rule in (spec.get("podFailurePolicy") or {}).get("rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            pattern["status"] = pattern.get("status") or "True"


def _inherit_labels(obj: Object) -> None:
    """A Job without labels has those of its pods."""
    labels = (obj["spec"].get("template", {}).get("metadata") or {}).get("labels")
    if labels and not obj["metadata"].get("labels"):
        obj["metadata"]["labels"] = dict(labels)


def _generate_selector(obj: Object) -> None:
    """Pods are selected by the Job's uid; what the user set of these labels stays, and is refused if it differs."""
    metadata = obj["spec"]["template"].setdefault("metadata", {})
    given = metadata.get("labels") or {}
    made = {**dict.fromkeys(NAME_LABELS, obj["metadata"].get("name", "")), **dict.fromkeys(UID_LABELS, obj["metadata"]["uid"])}
    metadata["labels"] = {**given, **{key: value for key, value in made.items() if key not in given}}
    selector = obj["spec"].get("selector") or {}
    match = selector.get("matchLabels") or {}
    obj["spec"]["selector"] = {**selector, "matchLabels": {UID_LABELS[0]: obj["metadata"]["uid"], **match}}


def _validate_job(obj: Object, old: Object | None) -> Errors:
    spec = obj.get("spec") or {}
    errors = _generated_selector(obj, spec)
    errors += validate_job_spec("spec", spec, options((old or {}).get("spec") if old else None))
    completions = spec.get("completions")
    if spec.get("completionMode") == "Indexed" and completions:
        hostname = f"{obj['metadata'].get('name', '')}-{completions - 1}"
        if names.dns_label(hostname):
            why = f"will not able to create pod with invalid DNS label: {hostname}"
            errors.append(invalid("metadata.name", obj["metadata"].get("name", ""), why))
    return errors


def _generated_selector(obj: Object, spec: Mapping[str, Any]) -> Errors:
    selector = spec.get("selector")
    if spec.get("manualSelector") or selector is None:
        return []
    uid, name = obj["metadata"].get("uid", ""), obj["metadata"].get("name", "")
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    expected = {UID_LABELS[1]: uid, NAME_LABELS[1]: name, UID_LABELS[0]: uid, NAME_LABELS[0]: name}
    errors: Errors = []
    for key, value in expected.items():
        path = f"spec.template.metadata.labels[{key}]"
        if key not in labels:
            errors.append(required(path, f"must be '{value}'"))
        elif labels[key] != value:
            errors.append(invalid(path, dict(sorted(labels.items())), f"must be '{value}'"))
    matcher = compiled(selector)
    if matcher is not None and not matcher.matches(expected):
        errors.append(invalid("spec.selector", go_form.label_selector(selector), "`selector` not auto-generated"))
    return errors


def job_status() -> StatusStrategy:
    """The `status` endpoint."""
    return StatusStrategy(JobStrategy(), validate_status=validate_job_status)
