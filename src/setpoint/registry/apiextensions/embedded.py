"""Resources inside of custom resources (`x-kubernetes-embedded-resource`): their kind, apiVersion and metadata.

Source: apiextensions-apiserver `schema/objectmeta`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from setpoint.api.machinery import decode, names
from setpoint.api.machinery.schema.trees import load
from setpoint.api.machinery.status import FieldError, StatusError, bad_request, invalid, required
from setpoint.registry import metadata as rules

Schema = Mapping[str, Any]
_EMBEDDED = "x-kubernetes-embedded-resource"
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
    for path, found in _embedded(obj, schema, "", ".{}"):
        metadata = found.get("metadata")
        if metadata is not None and (why := _misfit(metadata)):
            place = next(place for place, each in _embedded(obj, schema, "") if each is found)
            raise _no_metadata(obj, f"{place}.metadata", metadata, why)
        if isinstance(metadata, dict):
            unknown += [f"{path}.metadata.{name}" for name in metadata if name not in _KNOWN]
            for name in [name for name, value in metadata.items() if name not in _KNOWN or value is None]:
                del metadata[name]
    return sorted(unknown)


def _misfit(metadata: Any) -> str:
    """Why this cannot be read as metadata; nothing if it can."""
    if not isinstance(metadata, dict):
        kinds = {str: "string", bool: "bool", list: "array"}
        return f"json: cannot unmarshal {kinds.get(type(metadata), 'number')} into Go value of type v1.ObjectMeta"
    try:
        decode.check(metadata, load().tree("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"))
    except decode.DecodeError as error:
        return str(error)
    return ""


def _no_metadata(obj: dict[str, Any], path: str, value: Any, why: str) -> StatusError:
    kind, version = obj["kind"], obj["apiVersion"].rpartition("/")[2]
    return bad_request(f'{kind} in version "{version}" cannot be handled as a {kind}: {invalid(path, value, why)}')


def validate(obj: Any, schema: Schema) -> list[FieldError]:
    return [error for path, found in _embedded(obj, schema, "") for error in _validate(path, found)]


def _validate(path: str, found: dict[str, Any]) -> list[FieldError]:
    errors: list[FieldError] = []
    api_version, kind = found.get("apiVersion"), found.get("kind")
    if not api_version:
        why = "must not be empty"
        errors.append(invalid(f"{path}.apiVersion", "", why) if api_version == "" else required(f"{path}.apiVersion"))
    elif not isinstance(api_version, str):
        errors.append(invalid(f"{path}.apiVersion", api_version, "must be a string"))
    elif api_version.count("/") > 1:
        errors.append(invalid(f"{path}.apiVersion", api_version, f"unexpected GroupVersion string: {api_version}"))
    if not kind:
        why = "must not be empty"
        errors.append(invalid(f"{path}.kind", "", why) if kind == "" else required(f"{path}.kind"))
    elif not isinstance(kind, str):
        errors.append(invalid(f"{path}.kind", kind, "must be a string"))
    elif complaints := names.dns1035_label(kind.lower()):
        why = f"may have mixed case, but should otherwise match: {','.join(complaints)}"
        errors.append(invalid(f"{path}.kind", kind, why))
    metadata = found.get("metadata")
    return errors + _metadata(path, metadata) if isinstance(metadata, dict) else errors


def _metadata(path: str, metadata: dict[str, Any]) -> list[FieldError]:
    """The rules of metadata, where a name may be missing."""
    given = {"name": "x", **metadata}
    errors = rules.validate(given, namespaced=bool(metadata.get("namespace")), name_rule=names.path_segment)
    return [FieldError(error.reason, f"{path}.{error.field}", error.value, error.detail) for error in errors]


def _embedded(value: Any, schema: Schema | None, path: str, key: str = "[{}]") -> Iterator[tuple[str, dict[str, Any]]]:
    """Embedded resources with their paths; `key` is how the key of a map is written in one."""
    if schema is None:
        return
    if type(value) is dict:
        if schema.get(_EMBEDDED):
            yield path, value
        known, others = schema.get("properties") or {}, schema.get("additionalProperties")
        for name, found in value.items():
            below = known.get(name, others)
            if type(found) in (dict, list) and isinstance(below, Mapping):
                step = f".{name}" if name in known else key.format(name)
                yield from _embedded(found, below, f"{path}{step}" if path else name, key)
    elif type(value) is list and isinstance(items := schema.get("items"), Mapping):
        for index, found in enumerate(value):
            yield from _embedded(found, items, f"{path}[{index}]", key)
