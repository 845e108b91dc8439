"""Swagger 2.0 documents as protobuf, the only form of /openapi/v2 that kubectl asks for.

The messages are gnostic's `openapi.v2`: a document is one message in which maps are lists of names and values, and every value of
free form is YAML in a string. Only what our documents hold is in the tables below; a key that is missing there is left out.
Source: numbers and shapes are those of gnostic's `OpenAPIv2.proto`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson

from setpoint.api.machinery.protobuf_wire import FIXED64, VARINT, delimited, varint

MEDIA_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
#: what older clients call it
OLD_MEDIA_TYPE = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"

Value = Any
Encoder = Callable[[Value], bytes]


def document(swagger: Mapping[str, Any]) -> bytes:
    """The whole document as one message."""
    return _message(_DOCUMENT, 16)(swagger)


# Each of these makes the encoder of one field.


def _text(number: int) -> Encoder:
    return lambda value: delimited(number, value.encode())


def _texts(number: int) -> Encoder:
    return lambda value: b"".join(delimited(number, each.encode()) for each in value)


def _flag(number: int) -> Encoder:
    return lambda value: varint(number << 3 | VARINT) + b"\x01" if value else b""


def _whole(number: int) -> Encoder:
    return lambda value: varint(number << 3 | VARINT) + varint(int(value))


def _float(number: int) -> Encoder:
    return lambda value: varint(number << 3 | FIXED64) + struct.pack("<d", value)


def _any(number: int) -> Encoder:
    return lambda value: delimited(number, _free(value))


def _free(value: Value) -> bytes:
    """Any: YAML, and JSON is YAML."""
    return delimited(2, orjson.dumps(value) + b"\n")


def _within(number: int, encode: Encoder) -> Encoder:
    """A field that is a message."""
    return lambda value: delimited(number, encode(value))


def _each(number: int, encode: Encoder) -> Encoder:
    return lambda value: b"".join(delimited(number, encode(item)) for item in value)


def _named(number: int, encode: Encoder) -> Encoder:
    """A map: repeated messages of a name and a value."""
    return lambda value: b"".join(
        delimited(number, delimited(1, name.encode()) + delimited(2, encode(item))) for name, item in value.items()
    )


def _message(table: Mapping[str, Encoder], extensions: int) -> Encoder:
    """A message of known fields; `x-…` go to the field of that number, in the order of names."""

    def pieces(value: Mapping[str, Any]) -> Iterator[bytes]:
        for name, item in value.items():
            if name.startswith("x-"):
                yield delimited(extensions, delimited(1, name.encode()) + delimited(2, _free(item)))
            elif encode := table.get(name):
                yield encode(item)

    return lambda value: b"".join(pieces(value))


def _schema(value: Mapping[str, Any]) -> bytes:
    return _SCHEMA_MESSAGE(value)


def _additional(value: Value) -> bytes:
    return delimited(1, _schema(value)) if isinstance(value, dict) else _flag(2)(value)


def _type(value: Value) -> bytes:
    return _texts(1)([value] if isinstance(value, str) else value)


_SCHEMA: dict[str, Encoder] = {
    "$ref": _text(1),
    "format": _text(2),
    "title": _text(3),
    "description": _text(4),
    "default": _any(5),
    "maximum": _float(7),
    "minimum": _float(9),
    "maxLength": _whole(11),
    "minLength": _whole(12),
    "pattern": _text(13),
    "maxItems": _whole(14),
    "minItems": _whole(15),
    "uniqueItems": _flag(16),
    "maxProperties": _whole(17),
    "minProperties": _whole(18),
    "required": _texts(19),
    "enum": _each(20, _free),
    "additionalProperties": _within(21, _additional),
    "type": _within(22, _type),
    "items": _within(23, _within(1, _schema)),
    "allOf": _each(24, _schema),
    "properties": _within(25, _named(1, _schema)),
    "readOnly": _flag(27),
}
_SCHEMA_MESSAGE = _message(_SCHEMA, 31)

_BODY: dict[str, Encoder] = {
    "description": _text(1),
    "name": _text(2),
    "in": _text(3),
    "required": _flag(4),
    "schema": _within(5, _schema),
}
#: a parameter in the query has one field more than one in the path, and every number behind it is one higher
_PATH_PARAMETER: dict[str, Encoder] = {
    "required": _flag(1),
    "in": _text(2),
    "description": _text(3),
    "name": _text(4),
    "type": _text(5),
    "format": _text(6),
    "pattern": _text(15),
    "uniqueItems": _flag(18),
}
_QUERY: dict[str, Encoder] = {
    "required": _flag(1),
    "in": _text(2),
    "description": _text(3),
    "name": _text(4),
    "allowEmptyValue": _flag(5),
    "type": _text(6),
    "format": _text(7),
    "pattern": _text(16),
    "uniqueItems": _flag(19),
}


def _parameter(value: Mapping[str, Any]) -> bytes:
    if "$ref" in value:
        return delimited(2, delimited(1, value["$ref"].encode()))
    if value["in"] == "body":
        return delimited(1, delimited(1, _message(_BODY, 6)(value)))
    in_query = value["in"] == "query"
    inner = delimited(3, _message(_QUERY, 23)(value)) if in_query else delimited(4, _message(_PATH_PARAMETER, 22)(value))
    return delimited(1, delimited(2, inner))


_RESPONSE: dict[str, Encoder] = {"description": _text(1), "schema": _within(2, _within(1, _schema))}
_OPERATION: dict[str, Encoder] = {
    "tags": _texts(1),
    "summary": _text(2),
    "description": _text(3),
    "operationId": _text(5),
    "produces": _texts(6),
    "consumes": _texts(7),
    "parameters": _each(8, _parameter),
    "responses": _within(9, _named(1, _within(1, _message(_RESPONSE, 5)))),
    "schemes": _texts(10),
    "deprecated": _flag(11),
}
_METHODS = {"get": 2, "put": 3, "post": 4, "delete": 5, "options": 6, "head": 7, "patch": 8}
_PATH: dict[str, Encoder] = {
    **{name: _within(number, _message(_OPERATION, 13)) for name, number in _METHODS.items()},
    "parameters": _each(9, _parameter),
}
_API_KEY: dict[str, Encoder] = {"type": _text(1), "name": _text(2), "in": _text(3), "description": _text(4)}
_DOCUMENT: dict[str, Encoder] = {
    "swagger": _text(1),
    "info": _within(2, _message({"title": _text(1), "version": _text(2), "description": _text(3)}, 7)),
    "consumes": _texts(6),
    "produces": _texts(7),
    "paths": _within(8, _named(2, _message(_PATH, 10))),
    "definitions": _within(9, _named(1, _schema)),
    "security": _each(12, _named(1, _texts(1))),
    "securityDefinitions": _within(13, _named(1, _within(2, _message(_API_KEY, 5)))),
}
