"""The schema of a version: structural, with good defaults, and rules that compile and cost little.

Source: apiextensions-apiserver `pkg/apis/apiextensions/validation/validation.go`, validateCustomResourceDefinitionValidation. Its
leniency with invalid parts that were stored by older servers has one form here: a schema that an update does not change is not
looked at again (`versions.validate_versions`), which also makes writes of large definitions cheap.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from setpoint.api.machinery import cel
from setpoint.api.machinery.status import forbidden, invalid
from setpoint.registry.apiextensions import go_schema
from setpoint.registry.apiextensions.schema_defaults import validate_defaults
from setpoint.registry.apiextensions.schema_rules import validate_schema_rules
from setpoint.registry.apiextensions.structural import unreadable, validate_structural
from setpoint.registry.fields import Errors

Schema = Mapping[str, Any]

_WITH_STATUS = (
    *("Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum", "MaxLength"),
    *("MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items", "Properties"),
    *("ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations"),
)
_BELOW = ("items", "allOf", "anyOf", "oneOf", "not", "additionalProperties")


def validate_schema(path: str, schema: Schema, *, with_status: bool, known: bool = False) -> Errors:
    """Everything about `path.openAPIV3Schema`; `with_status`: status is a subresource; `known`: it was valid before."""
    where = f"{path}.openAPIV3Schema"
    errors = _root(where, schema, with_status=with_status)
    if known:
        return errors
    rules = validate_schema_rules(where, schema)
    why = unreadable(schema) if rules or b'"$schema":' in orjson.dumps(schema) else ""
    broken = [] if why else validate_structural(where, schema) or validate_defaults(where, schema)
    errors += broken + rules
    if why:
        return errors or [invalid(where, "", why)]
    return errors if broken else errors + cel.check_rules(schema, where, [error.field for error in rules])


def _root(where: str, schema: Schema, *, with_status: bool) -> Errors:
    """Status is validated apart, by its part of the schema; what is said of the whole must not be lost then."""
    errors: Errors = []
    for name in go_schema.set_fields(schema) if with_status else ():
        if name == "Type" and schema["type"] != "object":
            why = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
            errors.append(invalid(f"{where}.type", schema["type"], why))
            break
        if name not in _WITH_STATUS:
            known = " ".join(_WITH_STATUS)
            why = f"only [{known}] fields are allowed at the root of the schema if the status subresource is enabled"
            errors.append(invalid(where, go_schema.printed(schema), why))
            break
    if schema.get("nullable"):
        errors.append(forbidden(f"{where}.nullable", "nullable cannot be true at the root"))
    return errors


def has_defaults(version: Mapping[str, Any]) -> bool:
    """Whether a version's schema has a default anywhere."""
    return b'"default":' in orjson.dumps((version.get("schema") or {}).get("openAPIV3Schema"))


def unrecognized_formats(schema: Any) -> list[str]:
    """Formats that nobody checks, each once."""
    found: dict[str, None] = {}
    _formats(schema, found)
    return list(found)


def _formats(schema: Any, found: dict[str, None]) -> None:
    from setpoint.api.machinery.schema.strings import known_format  # a start without definitions needs none of it

    if isinstance(schema, list):
        for each in schema:
            _formats(each, found)
    if not isinstance(schema, dict):
        return
    if (form := schema.get("format")) and not known_format(schema):
        found[form] = None
    for key in _BELOW:
        if key in schema:
            _formats(schema[key], found)
    for field in (schema.get("properties") or {}).values():
        _formats(field, found)
