"""Pod templates of workloads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import forbidden
from setpoint.registry.fields import Errors, labels
from setpoint.registry.pod.validation.annotations import (
    validate_annotations,
    validate_app_armor_fields,
    validate_seccomp_fields,
)
from setpoint.registry.pod.validation.options import Options
from setpoint.registry.pod.validation.spec import validate_pod_spec


def validate_template(path: str, template: Mapping[str, Any], options: Options) -> Errors:
    """Labels and annotations stand at `template.labels` in complaints, though at `template.metadata.labels` in the object."""
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    annotations = metadata.get("annotations") or {}
    errors = labels(f"{path}.labels", metadata.get("labels"))
    errors += names.annotation_errors(annotations, f"{path}.annotations")
    errors += validate_annotations(f"{path}.annotations", annotations, spec, options)
    errors += validate_pod_spec(f"{path}.spec", spec, options)
    errors += validate_seccomp_fields(f"{path}.spec", annotations, spec)
    errors += validate_app_armor_fields(f"{path}.spec", annotations, spec)
    if spec.get("ephemeralContainers"):
        why = "ephemeral containers not allowed in pod template"
        errors.append(forbidden(f"{path}.spec.ephemeralContainers", why))
    return errors
