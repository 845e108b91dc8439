"""Pods: when they are created, and the checks that hold after every change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.status import forbidden
from setpoint.registry.fields import Errors
from setpoint.registry.pod.validation.annotations import (
    validate_annotations,
    validate_app_armor_fields,
    validate_seccomp_fields,
)
from setpoint.registry.pod.validation.containers import image_blanks
from setpoint.registry.pod.validation.options import Options
from setpoint.registry.pod.validation.spec import validate_pod_spec

Pod = Mapping[str, Any]


def annotations_of(pod: Pod) -> Mapping[str, str]:
    return pod["metadata"].get("annotations") or {}


def validate_pod(pod: Pod, options: Options) -> Errors:
    """Everything but metadata's own rules, which the generic store checks first."""
    spec = pod.get("spec") or {}
    errors = validate_annotations("metadata.annotations", annotations_of(pod), spec, options)
    errors += validate_pod_spec("spec", spec, options)
    if not spec.get("serviceAccountName"):
        errors += _tokens_without_account(spec)
    for field in ("containers", "initContainers"):
        for i, container in enumerate(spec.get(field) or ()):
            errors += image_blanks(f"spec.{field}[{i}]", container)
    return errors


def _tokens_without_account(spec: Mapping[str, Any]) -> Errors:
    why = "must not be specified when serviceAccountName is not set"
    return [
        forbidden(f"spec.volumes[{i}].projected.sources[{j}].serviceAccountToken", why)
        for i, volume in enumerate(spec.get("volumes") or ())
        for j, source in enumerate((volume.get("projected") or {}).get("sources") or ())
        if source.get("serviceAccountToken") is not None
    ]


def validate_new_pod(pod: Pod, options: Options) -> Errors:
    spec = pod.get("spec") or {}
    errors = validate_pod(pod, options)
    if spec.get("ephemeralContainers"):
        errors.append(forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        errors.append(forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"))
    errors += validate_seccomp_fields("spec", annotations_of(pod), spec)
    return errors + validate_app_armor_fields("spec", annotations_of(pod), spec)
