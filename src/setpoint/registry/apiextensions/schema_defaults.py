"""Defaults of a schema must be what the schema itself allows, and hold nothing that would be pruned.

Source: apiextensions-apiserver `pkg/apiserver/schema/defaulting/validation.go`. Defaults under
`additionalProperties` are not looked at, and those of metadata only by their own schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from msgspec import structs

from setpoint.api.machinery import cel
from setpoint.api.machinery.status import FieldError, invalid
from setpoint.registry.fields import Errors

Schema = Mapping[str, Any]

_META = ("metadata", "kind", "apiVersion")
_EMBEDDED = "x-kubernetes-embedded-resource"


def validate_defaults(path: str, schema: Schema) -> Errors:
    """A default of the whole is a resource, as those of embedded resources are."""
    errors: Errors = []
    _node(path, {**schema, _EMBEDDED: True}, errors, embedded=True, in_meta=False)
    return errors


def _node(path: str, schema: Schema, errors: Errors, *, embedded: bool, in_meta: bool) -> None:
    in_meta = in_meta and not embedded
    if (value := schema.get("default")) is not None:
        _default(f"{path}.default", value, schema, errors, in_meta=in_meta)
    items = schema.get("items")
    if isinstance(items, Mapping):
        _node(f"{path}.items", items, errors, embedded=bool(items.get(_EMBEDDED)), in_meta=in_meta)
    for name, field in (schema.get("properties") or {}).items():
        meta = in_meta or (embedded and name in _META)
        _node(f"{path}.properties[{name}]", field, errors, embedded=bool(field.get(_EMBEDDED)), in_meta=meta)


def _default(path: str, value: Any, schema: Schema, errors: Errors, *, in_meta: bool) -> None:
    from setpoint.api.machinery.schema.validating import validate

    if isinstance(value, dict | list) and not in_meta and _has_unknown(value, schema):
        errors.append(invalid(path, value, "must not have unknown fields"))
    found = _embedded(value, schema) or validate(value, schema) or _broken_rules(value, schema)
    errors += [_at(path, error) for error in found]


def _embedded(value: Any, schema: Schema) -> Errors:
    from setpoint.registry.apiextensions import embedded

    return embedded.validate(value, schema) if isinstance(value, dict | list) else []


def _broken_rules(value: Any, schema: Schema) -> Errors:
    """Rules hold for defaults, too; those that compare with a former value see the default as that as well."""
    program = cel.compile_rules(schema, root=bool(schema.get(_EMBEDDED)))
    return program.validate(value, value, ratcheting=False) if program is not None else []


def _has_unknown(value: Any, schema: Schema) -> bool:
    """Pruning begins at an object that is no resource, so the value is held in one field of a resource."""
    held = {"value": orjson.loads(orjson.dumps(value))}
    from setpoint.api.machinery.schema import pruning

    return bool(pruning.prune(held, {"type": "object", "properties": {"value": schema}}))


def _at(path: str, error: FieldError) -> FieldError:
    """A complaint of a value by itself, as one of the definition."""
    below = "" if error.field == "<nil>" else error.field.removeprefix(".")
    return structs.replace(error, field=f"{path}.{below}" if below else path)
