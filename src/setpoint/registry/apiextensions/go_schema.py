"""A schema as Kubernetes' internal type prints it, for the few messages that show one.

Source: apiextensions-apiserver `pkg/apis/apiextensions/types_jsonschema.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

#: Go's field, the field on the wire and what it is when absent, in Go's order
_FIELDS: tuple[tuple[str, str, Any], ...] = (
    ("ID", "id", ""),
    ("Schema", "$schema", ""),
    ("Ref", "$ref", None),
    ("Description", "description", ""),
    ("Type", "type", ""),
    ("Nullable", "nullable", False),
    ("Format", "format", ""),
    ("Title", "title", ""),
    ("Default", "default", None),
    ("Maximum", "maximum", None),
    ("ExclusiveMaximum", "exclusiveMaximum", False),
    ("Minimum", "minimum", None),
    ("ExclusiveMinimum", "exclusiveMinimum", False),
    ("MaxLength", "maxLength", None),
    ("MinLength", "minLength", None),
    ("Pattern", "pattern", ""),
    ("MaxItems", "maxItems", None),
    ("MinItems", "minItems", None),
    ("UniqueItems", "uniqueItems", False),
    ("MultipleOf", "multipleOf", None),
    ("Enum", "enum", None),
    ("MaxProperties", "maxProperties", None),
    ("MinProperties", "minProperties", None),
    ("Required", "required", None),
    ("Items", "items", None),
    ("AllOf", "allOf", None),
    ("OneOf", "oneOf", None),
    ("AnyOf", "anyOf", None),
    ("Not", "not", None),
    ("Properties", "properties", None),
    ("AdditionalProperties", "additionalProperties", None),
    ("PatternProperties", "patternProperties", None),
    ("Dependencies", "dependencies", None),
    ("AdditionalItems", "additionalItems", None),
    ("Definitions", "definitions", None),
    ("ExternalDocs", "externalDocs", None),
    ("Example", "example", None),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", None),
    ("XEmbeddedResource", "x-kubernetes-embedded-resource", False),
    ("XIntOrString", "x-kubernetes-int-or-string", False),
    ("XListMapKeys", "x-kubernetes-list-map-keys", None),
    ("XListType", "x-kubernetes-list-type", None),
    ("XMapType", "x-kubernetes-map-type", None),
    ("XValidations", "x-kubernetes-validations", None),
)
_RULE = ("Rule", "Message", "MessageExpression", "Reason", "FieldPath", "OptionalOldSelf")


def printed(schema: Schema) -> dict[str, Any]:
    """The whole struct, every field."""
    return {go: absent if schema.get(wire) is None else _value(wire, schema[wire]) for go, wire, absent in _FIELDS}


def set_fields(schema: Schema) -> list[str]:
    """Go's names of the fields that are not zero, in Go's order."""
    return [go for go, wire, absent in _FIELDS if schema.get(wire) is not None and schema[wire] != absent]


def items(found: Any) -> dict[str, Any]:
    """`items`: one schema or several."""
    several = [printed(each) for each in found] if isinstance(found, list) else None
    return {"Schema": printed(found) if isinstance(found, Mapping) else None, "JSONSchemas": several}


def _value(wire: str, found: Any) -> Any:
    if wire == "items":
        return items(found)
    if wire in {"allOf", "oneOf", "anyOf"}:
        return [printed(each) for each in found]
    if wire == "not":
        return printed(found)
    if wire in {"properties", "patternProperties", "definitions"}:
        return {name: printed(each) for name, each in sorted(found.items())}
    if wire in {"additionalProperties", "additionalItems"}:
        is_schema = isinstance(found, Mapping)
        return {"Allows": True if is_schema else found, "Schema": printed(found) if is_schema else None}
    if wire == "x-kubernetes-validations":
        return [_rule(each) for each in found]
    return found


def _rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    absent = {"Reason": None, "OptionalOldSelf": None}
    return {go: rule.get(go[:1].lower() + go[1:], absent.get(go, "")) for go in _RULE}
