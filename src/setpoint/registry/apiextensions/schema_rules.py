"""What every node of a definition's schema may say, beside being structural.

Source: apiextensions-apiserver `pkg/apis/apiextensions/validation/validation.go`, ValidateCustomResourceDefinitionOpenAPISchema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, structs

from setpoint.api.machinery.status import forbidden, invalid, not_supported, required
from setpoint.registry.apiextensions import go_schema
from setpoint.registry.apiextensions.structural import PLAIN, SCALARS
from setpoint.registry.fields import Errors

Schema = Mapping[str, Any]

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_PLAIN = PLAIN | {"pattern"}
_META = ("metadata", "kind", "apiVersion")
_LIST, _MAP, _KEYS = "x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-list-map-keys"
_EMBEDDED, _PRESERVE = "x-kubernetes-embedded-resource", "x-kubernetes-preserve-unknown-fields"
_UNIQUE = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
_ATOMIC = f"must be atomic as item of a list with {_LIST}=set"
_KEY = f"this property is in {_KEYS}, so it"


class _Place(Struct, frozen=True):
    """Where a node stands: why defaults are not allowed there, if so, and whether it describes an object's metadata."""

    no_defaults: str | None = None
    in_meta: bool = False
    root: bool = False


def validate_schema_rules(path: str, schema: Schema) -> Errors:
    errors: Errors = []
    _node(schema, path, _Place(root=True), errors)
    return errors


def _node(schema: Schema, path: str, place: _Place, errors: Errors) -> None:
    if schema.get("type") in SCALARS and schema.keys() <= _PLAIN:
        return
    _unsupported(schema, path, place, errors)
    inner = structs.replace(place, root=False) if place.root else place
    values = schema.get("additionalProperties")
    if values is not None and values is not True and schema.get("properties"):
        why = "additionalProperties and properties are mutual exclusive"
        errors.append(forbidden(f"{path}.additionalProperties", why))
    if isinstance(values, Mapping):
        why = "inside additionalProperties applying to object metadata"
        below = structs.replace(inner, no_defaults=why) if place.in_meta else inner
        _node(values, f"{path}.additionalProperties", below, errors)
    _fields(schema, path, place, inner, errors)
    _nested(schema, path, inner, errors)
    if schema.get(_PRESERVE) is False:
        errors.append(invalid(f"{path}.{_PRESERVE}", False, "must be true or undefined"))
    _map_type(schema, path, errors)
    _list_type(schema, path, errors)


def _fields(schema: Schema, path: str, place: _Place, inner: _Place, errors: Errors) -> None:
    for name, field in sorted((schema.get("properties") or {}).items()):
        below = inner
        if name in _META and (place.root or schema.get(_EMBEDDED)):
            below = structs.replace(inner, in_meta=True)
            if place.root:
                below = structs.replace(below, no_defaults=f"in top-level {name}")
        _node(field, f"{path}.properties[{name}]", below, errors)


def _nested(schema: Schema, path: str, place: _Place, errors: Errors) -> None:
    if isinstance(found := schema.get("not"), Mapping):
        _node(found, f"{path}.not", place, errors)
    for key in ("allOf", "oneOf", "anyOf"):
        for i, each in enumerate(schema.get(key) or ()):
            _node(each, f"{path}.{key}[{i}]", place, errors)
    for name, each in sorted((schema.get("definitions") or {}).items()):
        _node(each, f"{path}.definitions[{name}]", place, errors)
    items = schema.get("items")
    if isinstance(items, Mapping):
        _node(items, f"{path}.items", place, errors)
    for i, each in enumerate(items if isinstance(items, list) else ()):
        _node(each, f"{path}.items[{i}]", place, errors)
    for name, each in sorted((schema.get("dependencies") or {}).items()):
        if isinstance(each, Mapping):
            _node(each, f"{path}.dependencies[{name}]", place, errors)


def _unsupported(schema: Schema, path: str, place: _Place, errors: Errors) -> None:
    kind = schema.get("type")
    if kind and kind not in _TYPES:
        errors.append(not_supported(f"{path}.type", kind, _TYPES))
    if schema.get("default") is not None and place.no_defaults is not None:
        errors.append(forbidden(f"{path}.default", f"must not be set {place.no_defaults}"))
    if schema.get("id"):
        errors.append(forbidden(f"{path}.id", "id is not supported"))
    if schema.get("additionalItems") is not None:
        errors.append(forbidden(f"{path}.additionalItems", "additionalItems is not supported"))
    for key in ("patternProperties", "definitions"):
        if schema.get(key):
            errors.append(forbidden(f"{path}.{key}", f"{key} is not supported"))
    for key in ("dependencies", "$ref"):
        if schema.get(key) is not None:
            errors.append(forbidden(f"{path}.{key}", f"{key} is not supported"))
    if kind == "null":
        errors.append(forbidden(f"{path}.type", "type cannot be set to null, use nullable as an alternative"))
    if isinstance(items := schema.get("items"), list) and items:
        errors.append(forbidden(f"{path}.items", "items must be a schema object and not an array"))
    if place.in_meta and schema.get(_EMBEDDED):
        errors.append(forbidden(f"{path}.{_EMBEDDED}", "must not be used inside of resource meta"))
    if schema.get("uniqueItems"):
        errors.append(forbidden(f"{path}.uniqueItems", _UNIQUE))


def _needs_type(schema: Schema, path: str, extension: str, wanted: str, errors: Errors) -> bool:
    """Whether an extension stands on a schema of the type that it belongs to."""
    kind, why = schema.get("type"), f"must be {wanted} if {extension} is specified"
    if kind == wanted:
        return True
    errors.append(invalid(f"{path}.type", kind, why) if kind else required(f"{path}.type", why))
    return False


def _map_type(schema: Schema, path: str, errors: Errors) -> None:
    if (kind := schema.get(_MAP)) is None:
        return
    _needs_type(schema, path, _MAP, "object", errors)
    if kind not in {"atomic", "granular"}:
        errors.append(not_supported(f"{path}.{_MAP}", kind, ("atomic", "granular")))


def _list_type(schema: Schema, path: str, errors: Errors) -> None:
    kind, keys = schema.get(_LIST), schema.get(_KEYS) or ()
    if kind is not None and _needs_type(schema, path, _LIST, "array", errors) and kind == "set":
        _set_items(schema.get("items"), f"{path}.items", errors)
    if kind is not None and kind not in {"atomic", "set", "map"}:
        errors.append(not_supported(f"{path}.{_LIST}", kind, ("atomic", "set", "map")))
    if keys and kind != "map":
        why = f"must be map if {_KEYS} is non-empty"
        errors.append(required(f"{path}.{_LIST}", why) if kind is None else invalid(f"{path}.{_LIST}", kind, why))
    if kind == "map":
        _list_map(schema, path, keys, errors)
    if kind in {"map", "set"} and isinstance(items := schema.get("items"), Mapping):
        _correlated(items, f"{path}.items", kind, keys, errors)


def _set_items(items: Any, path: str, errors: Errors) -> None:
    """Items of a set are compared as wholes. Kubernetes shows the list type of objects, too."""
    kind = items.get("type") if isinstance(items, Mapping) else None
    if kind == "array" and items.get(_LIST) not in {None, "atomic"}:
        errors.append(invalid(f"{path}.{_LIST}", items.get(_LIST), _ATOMIC))
    elif kind == "object" and items.get(_MAP) != "atomic":
        errors.append(invalid(f"{path}.{_MAP}", items.get(_LIST), _ATOMIC))


def _list_map(schema: Schema, path: str, keys: Any, errors: Errors) -> None:
    items = schema.get("items")
    if not keys:
        errors.append(required(f"{path}.{_KEYS}", f"must not be empty if {_LIST} is map"))
    if items is None:
        errors.append(required(f"{path}.items", f"must have a schema if {_LIST} is map"))
    elif not isinstance(items, Mapping):
        why = f"must only have a single schema if {_LIST} is map"
        errors.append(invalid(f"{path}.items", go_schema.items(items), why))
    elif items.get("type") != "object":
        why = f"must be object if parent array's {_LIST} is map"
        errors.append(invalid(f"{path}.items.type", items.get("type") or "", why))
    else:
        _keys(items, path, list(keys), errors)


def _keys(items: Schema, path: str, keys: list[str], errors: Errors) -> None:
    known = items.get("properties") or {}
    for i, key in enumerate(keys):
        if key not in known:
            errors.append(invalid(f"{path}.{_KEYS}", keys, "entries must all be names of item properties"))
        elif known[key].get("type") in {"array", "object"}:
            why = f"must be a scalar type if parent array's {_LIST} is map"
            errors.append(invalid(f"{path}.items.properties[{key}].type", "object", why))
        if key in keys[:i]:
            errors.append(invalid(f"{path}.{_KEYS}", keys, "must not contain duplicate entries"))


def _correlated(items: Schema, path: str, kind: str, keys: Any, errors: Errors) -> None:
    """What tells items apart may be neither null nor absent."""
    if items.get("nullable"):
        errors.append(forbidden(f"{path}.nullable", f"cannot be nullable when {_LIST} is {kind}"))
    known, needed = items.get("properties") or {}, items.get("required") or ()
    for key in keys if kind == "map" else ():
        if (field := known.get(key)) is None:
            continue
        where = f"{path}.properties[{key}]"
        if key not in needed and field.get("default") is None:
            errors.append(required(f"{where}.default", f"{_KEY} must have a default or be a required property"))
        if field.get("nullable"):
            errors.append(forbidden(f"{where}.nullable", f"{_KEY} cannot be nullable"))
