"""The versions of a definition, and what each has: printer columns, subresources, a word of its deprecation.

Where all versions have the same, Kubernetes keeps it once for all and complains of it there; so do we. Source:
apiextensions-apiserver `pkg/apis/apiextensions/v1/conversion.go`, `pkg/apis/apiextensions/validation`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.cel.field_paths import found_at
from setpoint.api.machinery.status import duplicate, invalid, required, too_many
from setpoint.registry import go_form
from setpoint.registry.apiextensions.schemas import validate_schema
from setpoint.registry.fields import Errors

_TYPES = ("boolean", "date", "integer", "number", "string")
_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_LONGEST_WARNING = 256
_SELECTABLE = "selectableFields"
_SELECTABLE_TYPES = ("string", "boolean", "integer")
_NOT_SELECTABLE = (
    "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."
)
_MAX_SELECTABLE = 8
_UNFIT = "may only be set when `version.schema.openAPIV3Schema` is not included"
_UNFIT_FOR_ALL = "may only be set when validations.schema is included"

Version = Mapping[str, Any]


def validate_versions(path: str, versions: Sequence[Version] | None, known: Sequence[Version] = ()) -> Errors:
    """What each version has of its own; `known` are the versions before an update."""
    given = versions or ()
    errors: Errors = [
        required(f"{path}[{i}].schema.openAPIV3Schema")
        for i, version in enumerate(given)
        if (version.get("schema") or {}).get("openAPIV3Schema") is None
    ]
    for i, version in enumerate(given):
        name = version.get("name", "")
        if messages := names.dns1035_label(name):
            errors.append(invalid(f"{path}[{i}].name", name, ",".join(messages)))
        errors += _deprecation(f"{path}[{i}].deprecationWarning", version)
        if not _is_shared("schema", given):
            errors += _schema(f"{path}[{i}].schema", version, known, with_status=_has_status(version))
        errors += [
            error
            for field in (*_PARTS, _SELECTABLE)
            if not _is_shared(field, given)
            for error in _part(f"{path}[{i}]", field, version, _UNFIT)
        ]
    shown = go_form.each(versions, "CustomResourceDefinitionVersion")
    if len({version.get("name", "") for version in given}) != len(given):
        errors.append(invalid(path, shown, "must contain unique version names"))
    if sum(1 for version in given if version.get("storage")) != 1:
        errors.append(invalid(path, shown, "must have exactly one version marked as storage version"))
    return errors + _first_name(given)


def _first_name(given: Sequence[Version]) -> Errors:
    """The first version is the definition's own in the internal type, where it is complained of once more."""
    name = given[0].get("name", "") if given else ""
    messages = names.dns1035_label(name) if name else []
    return [invalid("spec.version", name, ",".join(messages))] if messages else []


def validate_parts(path: str, versions: Sequence[Version], known: Sequence[Version] = ()) -> Errors:
    """What all versions have in common; `known` are the versions before an update."""
    if not versions:
        return []
    errors: Errors = []
    if _is_shared("schema", versions):
        errors = _schema(f"{path}.validation", versions[0], known, with_status=any(map(_has_status, versions)))
    return errors + [
        error
        for field in (*_PARTS, _SELECTABLE)
        if _is_shared(field, versions)
        for error in _part(path, field, versions[0], _UNFIT_FOR_ALL)
    ]


def _is_shared(field: str, versions: Sequence[Version]) -> bool:
    return all(version.get(field) == versions[0].get(field) for version in versions)


def _has_status(version: Version) -> bool:
    return (version.get("subresources") or {}).get("status") is not None


def _schema(path: str, version: Version, known: Sequence[Version], *, with_status: bool) -> Errors:
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    if schema is None:
        return []
    before = any((each.get("schema") or {}).get("openAPIV3Schema") == schema for each in known)
    return validate_schema(path, schema, with_status=with_status, known=before)


def _part(path: str, field: str, version: Version, unfit: str) -> Errors:
    """One part of a version; `unfit` is what is said of selectable fields without a schema."""
    value = version.get(field)
    if not value:
        return []
    if field == _SELECTABLE:
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        return [invalid(f"{path}.{field}", "", unfit)] if schema is None else _selectable(f"{path}.{field}", value, schema)
    return _PARTS[field](f"{path}.{field}", value)


def _deprecation(path: str, version: Version) -> Errors:
    warning = version.get("deprecationWarning")
    if warning is None:
        return []
    if not version.get("deprecated"):
        return [invalid(path, warning, "can only be set for deprecated versions")]
    errors: Errors = []
    if len(warning.encode()) > _LONGEST_WARNING:
        errors.append(invalid(path, warning, f"must be <= {_LONGEST_WARNING} characters long"))
    if not warning:
        errors.append(invalid(path, warning, "must not be an empty string"))
    for i, letter in enumerate(warning):
        if not letter.isprintable():
            place = len(warning[:i].encode())
            why = f"must only contain printable UTF-8 characters; non-printable character found at index {place}"
            return [*errors, invalid(path, warning, why)]
    return errors


def _columns(path: str, columns: Sequence[Version]) -> Errors:
    return [error for i, column in enumerate(columns) for error in _column(f"{path}[{i}]", column)]


def _column(path: str, column: Version) -> Errors:
    kind, form, where = column.get("type", ""), column.get("format", ""), column.get("jsonPath", "")
    errors: Errors = [] if column.get("name") else [required(f"{path}.name")]
    types = f"must be one of {','.join(_TYPES)}"
    if not kind:
        errors.append(required(f"{path}.type", types))
    elif kind not in _TYPES:
        errors.append(invalid(f"{path}.type", kind, types))
    if form and form not in _FORMATS:
        errors.append(invalid(f"{path}.format", form, f"must be one of {','.join(_FORMATS)}"))
    return errors + (_simple_path(f"{path}.JSONPath", where) if where else [required(f"{path}.JSONPath")])


def _simple_path(path: str, value: str) -> Errors:
    if not value:
        return [invalid(path, value, "must not be empty")]
    return [] if value.startswith(".") else [invalid(path, value, "must be a simple json path starting with .")]


def _subresources(path: str, subresources: Version) -> Errors:
    scale = subresources.get("scale")
    if scale is None:
        return []
    errors: Errors = []
    for field, root in (("specReplicasPath", ".spec"), ("statusReplicasPath", ".status")):
        value, here = scale.get(field, ""), f"{path}.scale.{field}"
        wrong = _simple_path(here, value) if value else [required(here)]
        if not wrong and not value.startswith(f"{root}."):
            wrong = [invalid(here, value, f"should be a json path under {root}")]
        errors += wrong
    selector, here = scale.get("labelSelectorPath"), f"{path}.scale.labelSelectorPath"
    if selector:
        wrong = _simple_path(here, selector)
        if not wrong and not selector.startswith((".spec.", ".status.")):
            wrong = [invalid(here, selector, "should be a json path under either .spec or .status")]
        errors += wrong
    return errors


def _selectable(path: str, fields: Sequence[Version], schema: Version) -> Errors:
    """Fields to select objects by: scalars that the schema has, each once."""
    errors: Errors = []
    seen: set[str] = set()
    for i, field in enumerate(fields):
        where, here = field.get("jsonPath", ""), f"{path}[{i}].jsonPath"
        if not where:
            errors.append(required(here))
            continue
        found, why = found_at(where, schema, brackets=False)
        if why:
            errors.append(invalid(here, where, f"is an invalid path: {why}"))
            continue
        if where.split(".")[1] == "metadata":
            errors.append(invalid(here, where, "must not point to fields in metadata"))
        if found is None or found.get("type") not in _SELECTABLE_TYPES:
            errors.append(invalid(here, where, _NOT_SELECTABLE))
        if where in seen:
            errors.append(duplicate(here, where))
        seen.add(where)
    return [*errors, too_many(path, len(seen), _MAX_SELECTABLE)] if len(seen) > _MAX_SELECTABLE else errors


_PARTS: dict[str, Callable[[str, Any], Errors]] = {
    "subresources": _subresources,
    "additionalPrinterColumns": _columns,
}
