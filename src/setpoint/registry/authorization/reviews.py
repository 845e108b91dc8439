"""What the reviews may ask. Source: `pkg/apis/authorization/validation/validation.go`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, forbidden, invalid, required
from setpoint.registry.fields import Errors
from setpoint.registry.strategy import Object

Requirement = Mapping[str, Any]

_NEITHER = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
#: fields of ObjectMeta and of a ManagedFieldsEntry in the order in which Go's struct is printed
_METADATA = (
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
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
)
_MANAGED = ("manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource")


def self_subject_errors(review: Object) -> Errors:
    """Of a SelfSubjectAccessReview."""
    return _attributes(review.get("spec") or {}) + _empty_metadata(review)


def subject_errors(review: Object) -> Errors:
    """Of a SubjectAccessReview."""
    return _subject_spec(review.get("spec") or {}) + _empty_metadata(review)


def local_errors(review: Object) -> Errors:
    """Of a LocalSubjectAccessReview, whose metadata names the namespace of the request."""
    spec, metadata = review.get("spec") or {}, review.get("metadata") or {}
    errors = _subject_spec(spec)
    if set(_given(metadata)) - {"namespace"}:
        errors.append(invalid("metadata", _printed(metadata), "must be empty except for namespace"))
    attributes = spec.get("resourceAttributes")
    if attributes is not None and (attributes.get("namespace") or "") != metadata.get("namespace"):
        path, namespace = "spec.resourceAttributes.namespace", attributes.get("namespace") or ""
        errors.append(invalid(path, namespace, "must match metadata.namespace"))
    other = spec.get("nonResourceAttributes")
    if other is not None:
        errors.append(invalid("spec.nonResourceAttributes", _path_printed(other), "disallowed on this kind of request"))
    return errors


def _subject_spec(spec: Object) -> Errors:
    return _attributes(spec, _someone)


def _someone(spec: Object) -> Errors:
    if spec.get("user") or spec.get("groups"):
        return []
    return [invalid("spec.user", spec.get("user") or "", "at least one of user or group must be specified")]


def _attributes(spec: Object, also: Callable[[Object], Errors] = lambda _: []) -> Errors:
    resource, other = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    errors: Errors = []
    if resource is not None and other is not None:
        why = "cannot be specified in combination with resourceAttributes"
        errors.append(invalid("spec.nonResourceAttributes", _path_printed(other), why))
    if resource is None and other is None:
        errors.append(invalid("spec.resourceAttributes", None, _NEITHER))
    errors += also(spec)
    path = "spec.resourceAttributes"
    for field, check in (("fieldSelector", _field_requirement), ("labelSelector", _label_requirement)):
        errors += _selector((resource or {}).get(field), f"{path}.{field}", check)
    return errors


def _selector(selector: Mapping[str, Any] | None, path: str, check: Callable[[Requirement, str], Errors]) -> Errors:
    if selector is None:
        return []
    raw, requirements = selector.get("rawSelector"), selector.get("requirements") or ()
    errors: Errors = []
    if raw and requirements:
        errors.append(invalid(f"{path}.rawSelector", raw, "may not specified at the same time as requirements"))
    if not raw and not requirements:
        errors.append(required(f"{path}.requirements", f"when {path} is specified, requirements or rawSelector is required"))
    return errors + [error for i, one in enumerate(requirements) for error in check(one, f"{path}.requirements[{i}]")]


def _field_requirement(requirement: Requirement, path: str) -> Errors:
    missing = [] if requirement.get("key") else [required(f"{path}.key", "must be specified")]
    return missing + _values(requirement, path)


def _label_requirement(requirement: Requirement, path: str) -> Errors:
    errors, key = _values(requirement, path), requirement.get("key") or ""
    errors += [invalid(f"{path}.key", key, complaint) for complaint in names.label_key(key)]
    for index, value in enumerate(requirement.get("values") or ()):
        errors += [invalid(f"{path}.values[{index}]", value, complaint) for complaint in names.label_value(value)]
    return errors


def _values(requirement: Requirement, path: str) -> list[FieldError]:
    """Operators that nobody knows yet may come from newer clients and pass."""
    operator, values = requirement.get("operator"), requirement.get("values")
    if operator in ("In", "NotIn") and not values:
        return [required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")]
    if operator in ("Exists", "DoesNotExist") and values:
        return [forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
    return []


def _empty_metadata(review: Object) -> Errors:
    metadata = review.get("metadata") or {}
    return [invalid("metadata", _printed(metadata), "must be empty")] if _given(metadata) else []


def _given(metadata: Mapping[str, Any]) -> list[str]:
    """What a client has said there."""
    return [field for field, value in metadata.items() if value and field != "managedFields"]


def _printed(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """ObjectMeta as Go prints it."""
    shown = {field: metadata[field] for field in _METADATA if metadata.get(field)}
    if entries := shown.get("managedFields"):
        shown["managedFields"] = [{field: entry[field] for field in _MANAGED if entry.get(field)} for entry in entries]
    return shown


def _path_printed(attributes: Mapping[str, Any]) -> dict[str, str]:
    """NonResourceAttributes as Go prints the internal struct."""
    return {"Path": attributes.get("path") or "", "Verb": attributes.get("verb") or ""}
