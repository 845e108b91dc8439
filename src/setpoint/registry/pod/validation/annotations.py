"""Annotations that Kubernetes gives a meaning on pods."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from setpoint.api.machinery.status import forbidden, invalid
from setpoint.registry.fields import Errors
from setpoint.registry.pod.validation.options import Options
from setpoint.registry.pod.validation.paths import local_descending
from setpoint.registry.pod.validation.tolerations import validate_tolerations
from setpoint.registry.pod.validation.windows import all_containers

MIRROR = "kubernetes.io/config.mirror"
TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
APP_ARMOR_PREFIX = "container.apparmor.security.beta.kubernetes.io/"

_INTEGER = re.compile(r"0|[1-9][0-9]*|-[0-9]+")


def validate_annotations(path: str, annotations: Mapping[str, str], spec: Mapping[str, Any], options: Options) -> Errors:
    if not annotations:
        return []
    errors: Errors = []
    if MIRROR in annotations and not spec.get("nodeName"):
        why = "must set spec.nodeName if mirror pod annotation is set"
        errors.append(invalid(f"{path}[{MIRROR}]", annotations[MIRROR], why))
    if annotations.get(TOLERATIONS):
        errors += _old_tolerations(path, annotations[TOLERATIONS])
    cost = annotations.get(DELETION_COST)
    if cost is not None and not options.allow_invalid_deletion_cost and not _is_int32(cost):
        errors.append(invalid(f"{path}[{DELETION_COST}]", cost, "must be a 32bit integer"))
    errors += _seccomp_annotations(path, annotations)
    names = {container.get("name", "") for _, container in all_containers("", spec)}
    for key, value in sorted(annotations.items()):
        if key.startswith(APP_ARMOR_PREFIX):
            errors += _app_armor(f"{path}[{key}]", key.removeprefix(APP_ARMOR_PREFIX), value, names)
    return errors


def json_annotation(text: str) -> tuple[Any, str | None]:
    """A value that is JSON; else None and what is wrong with it, as Go says it."""
    from setpoint.api.machinery import gojson

    try:
        gojson.parse(text.encode())
    except gojson.SyntaxComplaint as complaint:
        return None, str(complaint)
    return orjson.loads(text), None


def _old_tolerations(path: str, text: str) -> Errors:
    """They were an annotation once, and are still checked there."""
    tolerations, why = json_annotation(text)
    if why is not None:
        return [invalid(path, TOLERATIONS, why)]
    if isinstance(tolerations, list) and all(isinstance(toleration, dict) for toleration in tolerations):
        return validate_tolerations(f"{path}.{TOLERATIONS}", tolerations)
    return []


def _seccomp_annotations(path: str, annotations: Mapping[str, str]) -> Errors:
    errors: Errors = []
    if SECCOMP_POD in annotations:
        errors += _seccomp_profile(f"{path}.{SECCOMP_POD}", annotations[SECCOMP_POD])
    for key, value in sorted(annotations.items()):
        if key.startswith(SECCOMP_CONTAINER):
            errors += _seccomp_profile(f"{path}.{key}", value)
    return errors


def _seccomp_profile(path: str, value: str) -> Errors:
    if value in {"runtime/default", "docker/default", "unconfined"}:
        return []
    if value.startswith("localhost/"):
        return local_descending(path, value.removeprefix("localhost/"))
    return [invalid(path, value, "must be a valid seccomp profile")]


def validate_seccomp_fields(path: str, annotations: Mapping[str, str], spec: Mapping[str, Any]) -> Errors:
    """Where both the old annotation and the field name a profile they must agree."""
    own = (spec.get("securityContext") or {}).get("seccompProfile")
    errors = _seccomp_match(f"{path}.securityContext.seccompProfile", own, annotations.get(SECCOMP_POD))
    for here, container in all_containers(path, spec):
        profile = (container.get("securityContext") or {}).get("seccompProfile")
        annotation = annotations.get(SECCOMP_CONTAINER + container.get("name", ""))
        errors += _seccomp_match(f"{here}.securityContext.seccompProfile", profile, annotation)
    return errors


def _seccomp_match(path: str, profile: Mapping[str, Any] | None, annotation: str | None) -> Errors:
    if profile is None or annotation is None:
        return []
    expected = {"Unconfined": {"unconfined"}, "RuntimeDefault": {"runtime/default", "docker/default"}}.get(
        profile.get("type", "")
    )
    fits = annotation in expected if expected is not None else annotation.startswith("localhost/")
    if expected is None and profile.get("type") != "Localhost":
        return []
    if not fits:
        return [forbidden(f"{path}.type", "seccomp type in annotation and field must match")]
    if expected is None and annotation.removeprefix("localhost/") != profile.get("localhostProfile"):
        return [forbidden(f"{path}.localhostProfile", "seccomp profile in annotation and field must match")]
    return []


def _is_int32(text: str) -> bool:
    return bool(_INTEGER.fullmatch(text)) and -(2**31) <= int(text) < 2**31


def _app_armor(path: str, container: str, profile: str, names: set[str]) -> Errors:
    errors: Errors = [] if container in names else [invalid(path, container, "container not found")]
    if profile not in {"", "runtime/default", "unconfined"} and not profile.startswith("localhost/"):
        errors.append(invalid(path, profile, f'invalid AppArmor profile name: "{profile}"'))
    return errors


def validate_app_armor_fields(path: str, annotations: Mapping[str, str], spec: Mapping[str, Any]) -> Errors:
    """Where both the old annotation and the field name a profile they must agree."""
    if (spec.get("os") or {}).get("name") == "windows":
        return []
    own = (spec.get("securityContext") or {}).get("appArmorProfile")
    errors: Errors = []
    for here, container in all_containers(path, spec):
        profile = (container.get("securityContext") or {}).get("appArmorProfile") or own
        annotation = annotations.get(APP_ARMOR_PREFIX + container.get("name", ""))
        if profile is not None and annotation is not None:
            errors += _match(f"{here}.securityContext.appArmorProfile", profile, annotation)
    return errors


def _match(path: str, profile: Mapping[str, Any], annotation: str) -> Errors:
    kind = profile.get("type", "")
    expected = {"Unconfined": "unconfined", "RuntimeDefault": "runtime/default"}.get(kind)
    if expected is not None:
        same = annotation == expected
        return [] if same else [forbidden(f"{path}.type", "apparmor type in annotation and field must match")]
    if kind != "Localhost":
        return []
    if not annotation.startswith("localhost/"):
        return [forbidden(f"{path}.type", "apparmor type in annotation and field must match")]
    if annotation.removeprefix("localhost/") != profile.get("localhostProfile"):
        return [forbidden(f"{path}.localhostProfile", "apparmor profile in annotation and field must match")]
    return []


def validate_annotation_changes(path: str, new: Mapping[str, str], old: Mapping[str, str]) -> Errors:
    """Annotations that are fixed once the pod exists."""
    errors: Errors = []
    for key in sorted(old):
        if new.get(key) != old[key]:
            errors += _fixed(path, key, "remove or update")
    for key in sorted(set(new) - set(old)):
        errors += _fixed(path, key, "add")
    return errors


def _fixed(path: str, key: str, verb: str) -> Errors:
    if key.startswith(APP_ARMOR_PREFIX):
        return [forbidden(f"{path}[{key}]", f"may not {verb} AppArmor annotations")]
    if key == MIRROR:
        return [forbidden(f"{path}[{key}]", f"may not {verb} mirror pod annotation")]
    return []
