"""What makes a schema structural: every field has its type outside of `allOf`, `anyOf`, `oneOf` and `not`, which only restrict.

Source: apiextensions-apiserver `pkg/apiserver/schema/validation.go` and `complete.go`, KEP-1693 (vanilla OpenAPI subset).
Complaints come in alphabetical order, as there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.api.machinery.status import forbidden, invalid, required
from setpoint.registry.apiextensions.patterns import complaint
from setpoint.registry.fields import Errors

Schema = Mapping[str, Any]

_ROOT, _ITEM, _FIELD = "at the root", "for specified array items", "for specified object fields"
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_LISTS = ("anyOf", "allOf", "oneOf")
_PRESERVE, _EMBEDDED = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"
_IOS = "x-kubernetes-int-or-string"
_ONLY_NAMES = "must not specify anything other than name and generateName, but metadata is implicitly specified"
_NO_FIELDS = f"must not be empty if {_EMBEDDED} is true without {_PRESERVE}"

#: what may not stand in a restriction, and what it must be instead
_NOT_NESTED = {
    "type": "empty",
    "additionalProperties": "undefined",
    "default": "undefined",
    "title": "empty",
    "description": "empty",
    "nullable": "false",
    "externalDocs": "undefined",
    _PRESERVE: "false",
    _EMBEDDED: "false",
    _IOS: "false",
    "x-kubernetes-list-map-keys": "empty",
    "x-kubernetes-list-type": "undefined",
    "x-kubernetes-map-type": "undefined",
    "x-kubernetes-validations": "empty",
}
#: scalars that say no more than this are structural: the most of every large schema
SCALARS = frozenset({"string", "integer", "number", "boolean"})
PLAIN = frozenset({"type", "description", "format", "title", "enum", "minimum", "maximum", "minLength", "maxLength"})
#: why a schema cannot be read as a structural one at all; most of these have complaints of their own
_UNREADABLE = {
    "id": "id",
    "$schema": "schema",
    "$ref": "$ref",
    "definitions": "definitions",
    "additionalItems": "additionalItems",
}
_UNREADABLE |= {"patternProperties": "patternProperties", "dependencies": "dependencies"}


def unreadable(schema: Schema) -> str:
    """Why this is no structural schema to begin with; nothing if it is one."""
    for key, name in _UNREADABLE.items():
        found = schema.get(key)
        if found or (key == "additionalItems" and found is not None):
            return f"OpenAPIV3Schema '{name}' is not supported"
    if schema.get(_PRESERVE) is False:
        return f"internal error: '{_PRESERVE}' must be true or undefined"
    if isinstance(schema.get("items"), list):
        return "OpenAPIV3Schema 'items' must be a schema, but is an array"
    return next(filter(None, map(unreadable, _below(schema))), "")


def _below(schema: Schema) -> Iterator[Schema]:
    for key in ("items", "additionalProperties", "not"):
        if isinstance(found := schema.get(key), Mapping):
            yield found
    for key in _LISTS:
        yield from schema.get(key) or ()
    yield from (schema.get("properties") or {}).values()


def validate_structural(path: str, schema: Schema) -> Errors:
    errors: Errors = []
    _invariants(schema, _ROOT, path, errors)
    _complete(schema, schema, path, path, errors)
    return sorted(errors, key=str)


def _invariants(schema: Schema, level: str, path: str, errors: Errors) -> None:
    if level is not _ROOT and schema.get("type") in SCALARS and schema.keys() <= PLAIN:
        return
    items, values = schema.get("items"), schema.get("additionalProperties")
    known: Mapping[str, Schema] = schema.get("properties") or {}
    if isinstance(items, Mapping):
        _invariants(items, _ITEM, f"{path}.items", errors)
    elif schema.get("type") == "array":
        errors.append(required(f"{path}.items", "must be specified"))
    for name, field in known.items():
        _invariants(field, _FIELD, f"{path}.properties[{name}]", errors)
    if values is not None and level is _ROOT:
        errors.append(forbidden(f"{path}.additionalProperties", "must not be used at the root"))
    if isinstance(values, Mapping):
        _invariants(values, _FIELD, f"{path}.additionalProperties", errors)
    _extensions(schema, path, errors)
    _restrictions(schema, path, errors, int_or_string=True, excusable=True)
    _type(schema, level, path, errors)
    if level is _ROOT or schema.get(_EMBEDDED):
        for name in ("kind", "apiVersion"):
            if name in known and known[name].get("type") != "string":
                errors.append(invalid(f"{path}.properties[{name}].type", known[name].get("type") or "", "must be string"))
    if "metadata" in known:
        _metadata(known["metadata"], level, f"{path}.properties[metadata]", errors, embedded=bool(schema.get(_EMBEDDED)))
    if schema.get(_EMBEDDED) and not schema.get(_PRESERVE) and not known:
        errors.append(required(f"{path}.properties", _NO_FIELDS))


def _extensions(schema: Schema, path: str, errors: Errors) -> None:
    if schema.get(_IOS):
        for name in (_PRESERVE, _EMBEDDED):
            if schema.get(name):
                errors.append(invalid(f"{path}.{name}", True, f"must be false if {_IOS} is true"))
    if schema.get(_EMBEDDED) and schema.get("additionalProperties") is not None:
        errors.append(forbidden(f"{path}.additionalProperties", f"must not be used if {_EMBEDDED} is set"))


def _type(schema: Schema, level: str, path: str, errors: Errors) -> None:
    kind, place = schema.get("type") or "", f"{path}.type"
    if schema.get(_EMBEDDED) and kind != "object":
        why = f"must be object if {_EMBEDDED} is true"
        errors.append(invalid(place, kind, why) if kind else required(place, why))
    elif not kind and not schema.get(_IOS) and not schema.get(_PRESERVE):
        errors.append(required(place, f"must not be empty {level}"))
    if level is _ROOT and kind and kind != "object":
        errors.append(invalid(place, kind, "must be object at the root"))


def _metadata(schema: Schema, level: str, path: str, errors: Errors, *, embedded: bool) -> None:
    """The server knows what metadata is; a definition may only say how objects may be called."""
    if (level is _ROOT or embedded) and schema.get("type") != "object":
        errors.append(invalid(f"{path}.type", schema.get("type") or "", "must be object"))
    if level is _ROOT:
        left = {name for name, value in schema.items() if value not in (None, "", False, [], {})} - {"type", "default"}
        if set(schema.get("properties") or ()) <= {"name", "generateName"}:
            left.discard("properties")
        if left:
            errors.append(forbidden(path, _ONLY_NAMES))


def _restrictions(schema: Schema, path: str, errors: Errors, *, int_or_string: bool, excusable: bool = False) -> None:
    """The value validation of a schema; two forms that say integer or string are the exception that may name types."""
    for key in _LISTS:
        if key == "anyOf" and int_or_string and schema.get(key) == _INT_OR_STRING:
            continue
        for i, nested in enumerate(schema.get(key) or ()):
            _nested(nested, f"{path}.{key}[{i}]", errors, excused=excusable and key == "allOf" and i == 0)
    if isinstance(schema.get("not"), Mapping):
        _nested(schema["not"], f"{path}.not", errors, excused=False)
    if (pattern := schema.get("pattern")) and (why := complaint(pattern)):
        errors.append(invalid(f"{path}.pattern", pattern, f"must be a valid regular expression, but isn't: {why}"))


def _nested(schema: Schema, path: str, errors: Errors, *, excused: bool) -> None:
    _restrictions(schema, path, errors, int_or_string=excused)
    if isinstance(items := schema.get("items"), Mapping):
        _nested(items, f"{path}.items", errors, excused=False)
    known = schema.get("properties") or {}
    for name, field in known.items():
        _nested(field, f"{path}.properties[{name}]", errors, excused=False)
    for key, instead in _NOT_NESTED.items():
        if (found := schema.get(key)) or (instead == "undefined" and found is not None):
            errors.append(forbidden(f"{path}.{key}", f"must be {instead} to be structural"))
    if "metadata" in known:
        errors.append(forbidden(f"{path}.properties[metadata]", "must not be specified in a nested context"))


def _complete(nested: Schema, schema: Schema | None, place: str, path: str, errors: Errors) -> None:
    """What a restriction speaks of must stand in the schema itself, too."""
    if schema is None:
        errors.append(required(place, f"because it is defined in {path}"))
        return
    if isinstance(nested.get("not"), Mapping):
        _complete_below(nested["not"], schema, place, f"{path}.not", errors)
    for key in _LISTS:
        for i, each in enumerate(nested.get(key) or ()):
            _complete_below(each, schema, place, f"{path}.{key}[{i}]", errors)


def _complete_below(nested: Schema, schema: Schema | None, place: str, path: str, errors: Errors) -> None:
    _complete(nested, schema, place, path, errors)
    if schema is None:
        return
    if isinstance(items := nested.get("items"), Mapping):
        own = schema.get("items")
        _complete_below(items, own if isinstance(own, Mapping) else None, f"{place}.items", f"{path}.items", errors)
    known = schema.get("properties") or {}
    for name, field in (nested.get("properties") or {}).items():
        _complete_below(field, known.get(name), f"{place}.properties[{name}]", f"{path}.properties[{name}]", errors)
