"""Resources inside of custom resources (`x-kubernetes-embedded-resource`): their kind, apiVersion and metadata.

Source: apiextensions-apiserver `schema/objectmeta`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, StatusError, bad_request, invalid, required
from setpoint.registry import metadata as rules

Schema = Mapping[str, Any]
_EMBEDDED = "x-kubernetes-embedded-resource"
_LISTS = ("finalizers", "ownerReferences", "managedFields")
_MAPS = ("labels", "annotations")
_KNOWN = {
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
    "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers", "managedFields",
}  # fmt: skip


def any_embedded(schema: Any) -> bool:
    """Whether a schema embeds resources anywhere."""
    return b'"x-kubernetes-embedded-resource"' in orjson.dumps(schema)


def settle(obj: dict[str, Any], schema: Schema) -> list[str]:
    """Drop from embedded metadata what no metadata has; the paths of what was dropped, sorted. Raises 400 where it is none."""
    unknown: list[str] = []
    for path, found in _embedded(obj, schema, ""):
        metadata = found.get("metadata")
        if metadata is not None and not isinstance(metadata, dict):
            raise _no_metadata(obj, f"{path}.metadata", metadata)
        if isinstance(metadata, dict):
            unknown += [f"{path}.metadata.{name}" for name in metadata if name not in _KNOWN]
            for name in [name for name, value in metadata.items() if name not in _KNOWN or value is None]:
                del metadata[name]
    return sorted(unknown)


def _no_metadata(obj: dict[str, Any], path: str, value: Any) -> StatusError:
    kinds = {str: "string", bool: "bool", list: "array"}
    why = f"json: cannot unmarshal {kinds.get(type(value), 'number')} into Go value of type v1.ObjectMeta"
    kind, version = obj["kind"], obj["apiVersion"].rpartition("/")[2]
    return bad_request(f'{kind} in version "{version}" cannot be handled as a {kind}: {invalid(path, value, why)}')


def validate(obj: dict[str, Any], schema: Schema) -> list[FieldError]:
    return [error for path, found in _embedded(obj, schema, "") for error in _validate(path, found)]


def _validate(path: str, found: dict[str, Any]) -> list[FieldError]:
    errors: list[FieldError] = []
    api_version, kind = found.get("apiVersion"), found.get("kind")
    if not api_version:
        why = "must not be empty"
        errors.append(invalid(f"{path}.apiVersion", "", why) if api_version == "" else required(f"{path}.apiVersion"))
    elif not isinstance(api_version, str) or api_version.count("/") > 1:
        errors.append(invalid(f"{path}.apiVersion", api_version, f"unexpected GroupVersion string: {api_version}"))
    if not kind:
        why = "must not be empty"
        errors.append(invalid(f"{path}.kind", "", why) if kind == "" else required(f"{path}.kind"))
    elif complaints := names.dns1035_label(str(kind).lower()):
        why = f"may have mixed case, but should otherwise match: {','.join(complaints)}"
        errors.append(invalid(f"{path}.kind", kind, why))
    metadata = found.get("metadata")
    if isinstance(metadata, dict) and all(isinstance(metadata.get(name, {}), dict) for name in _MAPS):
        errors += _metadata(path, metadata)
    return errors


def _metadata(path: str, metadata: dict[str, Any]) -> list[FieldError]:
    """The rules of metadata, where a name may be missing."""
    if any(not isinstance(metadata.get(name, []), list) for name in _LISTS):
        return []
    given = {"name": "x", **metadata}
    errors = rules.validate(given, namespaced=bool(metadata.get("namespace")), name_rule=names.path_segment)
    return [FieldError(error.reason, f"{path}.{error.field}", error.value, error.detail) for error in errors]


def _embedded(value: Any, schema: Schema | None, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if schema is None:
        return
    if type(value) is dict:
        if schema.get(_EMBEDDED):
            yield path, value
        known, others = schema.get("properties") or {}, schema.get("additionalProperties")
        for name, found in value.items():
            below = known.get(name, others)
            if type(found) in (dict, list) and isinstance(below, Mapping):
                yield from _embedded(found, below, f"{path}.{name}" if path else name)
    elif type(value) is list and isinstance(items := schema.get("items"), Mapping):
        for index, found in enumerate(value):
            yield from _embedded(found, items, f"{path}[{index}]")
