"""What a structural schema's values are in expressions: their type, and how big they can get.

Sources: Kubernetes' `apiserver/pkg/cel/common/schemas.go` (which schemas are visible, estimates of size), `escaping.go` (names)
and `common/values.go` (values).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.cel.tokens import RESERVED
from setpoint.api.machinery.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    ObjectScope,
    Type,
    list_of,
    map_of,
    object_type,
)
from setpoint.api.machinery.cel.values import MapList, SetList, Timestamp, parse_duration, parse_timestamp

Schema = Mapping[str, Any]
Convert = Callable[[Any], Any]

MAX_REQUEST = 3 * 1024 * 1024
_name = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./-]*").fullmatch
_special = re.compile(r"__|[./-]")
_ESCAPES = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_FORMATS: dict[str, tuple[Type, int, int]] = {
    # format: type, the shortest and the longest text in JSON
    "duration": (DURATION, 2, 32),
    "date": (TIMESTAMP, 12, 12),
    "date-time": (TIMESTAMP, 21, 29),
}


class Decl(Struct, frozen=True, eq=False):
    """A schema as expressions see it; sizes in characters, bytes or items, as the type has them.

    `convert` makes the value that expressions see of a JSON value; nothing, if that is the same.
    """

    type: Type
    min_size: int
    max_elements: int = 0
    fields: dict[str, Decl] = {}
    key: Decl | None = None
    items: Decl | None = None
    convert: Convert | None = None


def escape(name: str) -> str | None:
    """A field's name in expressions; nothing if it cannot be named there."""
    if name in RESERVED:
        return f"__{name}__"
    return _special.sub(lambda found: _ESCAPES[found[0]], name) if _name(name) else None


def declare(schema: Schema, *, root: bool = False) -> Decl | None:
    """What expressions see of a schema; nothing if it is hidden from them. `root` is a resource, with its name and kind."""
    if schema.get("x-kubernetes-int-or-string"):
        return Decl(DYN, 1, _max_length(schema))
    if root or schema.get("x-kubernetes-embedded-resource"):
        schema = _with_identity(schema)
    match schema.get("type"):
        case "array":
            return _array(schema)
        case "object":
            return _object(schema)
        case "string":
            return _string(schema)
        case "boolean":
            return Decl(BOOL, 4)
        case "number":
            return Decl(DOUBLE, 1, convert=_double)
        case "integer":
            return Decl(INT, 1, convert=None)
    return None


_IDENTITY: dict[str, Any] = {
    "kind": {"type": "string"},
    "apiVersion": {"type": "string"},
    "metadata": {"type": "object", "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}}},
}


def _with_identity(schema: Schema) -> Schema:
    return {**schema, "properties": {**(schema.get("properties") or {}), **_IDENTITY}}


def _double(value: Any) -> Any:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _max_length(schema: Schema) -> int:
    """In bytes: a character may take four."""
    limit = schema.get("maxLength")
    return MAX_REQUEST - 2 if limit is None else max(limit, 0) * 4


def _string(schema: Schema) -> Decl:
    form = schema.get("format") or ""
    if form == "byte":
        limit = schema.get("maxLength")
        return Decl(BYTES, 2, MAX_REQUEST - 2 if limit is None else max(limit, 0), convert=_decoded)
    if form in _FORMATS:
        kind, shortest, longest = _FORMATS[form]
        return Decl(kind, shortest, longest, convert=_duration if form == "duration" else _time)
    if schema.get("maxLength") is None and (words := schema.get("enum")):
        return Decl(STRING, 2, max((len(word.encode()) for word in words if isinstance(word, str)), default=0))
    return Decl(STRING, 2, _max_length(schema))


def _decoded(value: Any) -> Any:
    try:
        return base64.b64decode(value) if isinstance(value, str) else value
    except (binascii.Error, ValueError):
        return value


def _duration(value: Any) -> Any:
    return (parse_duration(value) or value) if isinstance(value, str) else value


def _time(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    found: Timestamp | None = parse_timestamp(value) or parse_timestamp(f"{value}T00:00:00Z")
    return found or value


def _array(schema: Schema) -> Decl | None:
    items = declare(schema["items"]) if schema.get("items") else None
    if items is None:
        return None
    limit = schema.get("maxItems")
    most = (MAX_REQUEST - 2) // (items.min_size + 1) if limit is None else max(limit, 0)
    return Decl(list_of(items.type), 2, most, items=items, convert=_list_conversion(schema, items.convert))


def _list_conversion(schema: Schema, inner: Convert | None) -> Convert | None:
    kind = schema.get("x-kubernetes-list-type")
    keys = tuple(schema.get("x-kubernetes-list-map-keys") or ())
    if kind not in {"set", "map"} and inner is None:
        return None

    def convert(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        items = value if inner is None else [item if item is None else inner(item) for item in value]
        if kind == "set":
            return SetList(items)
        if kind == "map":
            out = MapList(items)
            out.keys = keys
            return out
        return items

    return convert


def _object(schema: Schema) -> Decl | None:
    additional = schema.get("additionalProperties")
    if isinstance(additional, Mapping):
        return _map(schema, additional)
    required = set(schema.get("required") or ())
    fields: dict[str, Decl] = {}
    written: dict[str, str] = {}
    converts: dict[str, Convert] = {}
    size = 2
    for name, child in (schema.get("properties") or {}).items():
        field = declare(child)
        if field is None:
            continue
        if (escaped := escape(name)) is not None:
            fields[escaped] = field
            written[escaped] = name
        if field.convert is not None:
            converts[name] = field.convert
        if name in required and child.get("default") is None:
            size += len(name) + field.min_size + 4
    scope = ObjectScope("object", {name: field.type for name, field in fields.items()}, written)
    return Decl(object_type(scope), size, fields=fields, convert=_object_conversion(converts))


def _object_conversion(converts: dict[str, Convert]) -> Convert | None:
    if not converts:
        return None

    def convert(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        changed = {name: make(value[name]) for name, make in converts.items() if value.get(name) is not None}
        return {**value, **changed} if changed else value

    return convert


def _map(schema: Schema, additional: Schema) -> Decl | None:
    values = declare(additional)
    if values is None:
        return None
    limit = schema.get("maxProperties")
    most = (MAX_REQUEST - 2) // (values.min_size + 6) if limit is None else max(limit, 0)
    inner = values.convert

    def convert(value: Any) -> Any:
        if inner is None or not isinstance(value, dict):
            return value
        return {key: one if one is None else inner(one) for key, one in value.items()}

    return Decl(map_of(STRING, values.type), 2, most, {}, Decl(STRING, 2), values, convert if inner else None)
