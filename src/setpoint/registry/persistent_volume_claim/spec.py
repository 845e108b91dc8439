"""Validation of a claim's spec, alone or as the template of a generic ephemeral volume."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import forbidden, invalid, not_supported, required
from setpoint.registry import formats
from setpoint.registry.fields import Errors, complain, label_selector, labels
from setpoint.registry.pod.validation.resources import amount

_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_VOLUME_MODES = ("Block", "Filesystem")


# in the order of Go's struct, and by its names
_NOT_IN_TEMPLATES = tuple(
    (name, "uID" if name == "uid" else name)
    for name in (
        "name",
        "generateName",
        "namespace",
        "selfLink",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "ownerReferences",
        "finalizers",
        "managedFields",
    )
)


def validate_claim_template(path: str, template: Mapping[str, Any]) -> Errors:
    """A template's metadata may hold labels and annotations only; names come from the pod and the volume."""
    metadata = template.get("metadata") or {}
    errors = names.annotation_errors(metadata.get("annotations") or {}, f"{path}.metadata.annotations")
    errors += labels(f"{path}.metadata.labels", metadata.get("labels"))
    errors += [forbidden(f"{path}.metadata.{shown}", "cannot be set") for name, shown in _NOT_IN_TEMPLATES if metadata.get(name)]
    return errors + validate_claim_spec(f"{path}.spec", template.get("spec") or {})


def validate_claim_spec(path: str, spec: Mapping[str, Any], *, any_group: bool = False) -> Errors:
    """`any_group`: what a source's group may be called is not asked again of a claim that had one."""
    modes = spec.get("accessModes") or ()
    errors: Errors = [] if modes else [required(f"{path}.accessModes", "at least 1 access mode is required")]
    errors += label_selector(f"{path}.selector", spec.get("selector"))
    errors += [not_supported(f"{path}.accessModes", mode, _MODES) for mode in modes if mode not in _MODES]
    if "ReadWriteOncePod" in modes and any(mode in _MODES and mode != "ReadWriteOncePod" for mode in modes):
        errors.append(forbidden(f"{path}.accessModes", "may not use ReadWriteOncePod with other access modes"))
    errors += _storage(f"{path}.resources[storage]", spec)
    errors += _class_name(f"{path}.storageClassName", spec.get("storageClassName"))
    mode = spec.get("volumeMode")
    if mode is not None and mode not in _VOLUME_MODES:
        errors.append(not_supported(f"{path}.volumeMode", mode, _VOLUME_MODES))
    errors += _data_source(path, spec, any_group=any_group)
    return errors + _class_name(f"{path}.volumeAttributesClassName", spec.get("volumeAttributesClassName"))


def _class_name(path: str, name: str | None) -> Errors:
    return complain(path, name, names.dns_subdomain(name)) if name else []


def _storage(path: str, spec: Mapping[str, Any]) -> Errors:
    requests = (spec.get("resources") or {}).get("requests") or {}
    if "storage" not in requests:
        return [required(path)]
    storage = amount(requests["storage"])
    return [] if storage.nanos > 0 else [invalid(path, str(storage), formats.POSITIVE)]


def _data_source(path: str, spec: Mapping[str, Any], *, any_group: bool) -> Errors:
    errors: Errors = []
    for field in ("dataSource", "dataSourceRef"):
        source = spec.get(field)
        if source is None:
            continue
        for name in ("name", "kind"):
            if not source.get(name):
                errors.append(required(f"{path}.{field}.{name}"))
        group = source.get("apiGroup") or ""
        if not group and source.get("kind") != "PersistentVolumeClaim":
            why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
            errors.append(invalid(f"{path}.{field}", source.get("kind", ""), why))
        if group and not any_group:
            errors += complain(f"{path}.{field}.apiGroup", group, names.dns_subdomain(group))
        namespace = source.get("namespace")
        if namespace:
            errors += complain(f"{path}.{field}.namespace", namespace, names.dns_label(namespace))
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is None or reference is None:
        return errors
    if reference.get("namespace"):
        errors.append(invalid(path, {}, "may not be specified when dataSourceRef.namespace is specified"))
    elif any(source.get(name) != reference.get(name) for name in ("apiGroup", "kind", "name")):
        errors.append(invalid(path, {}, "must match dataSourceRef"))
    return errors
