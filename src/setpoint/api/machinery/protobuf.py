"""Kubernetes' protobuf bodies, as Go clients send them for built-in kinds: decoded into the same JSON that others send.

The envelope is four magic bytes and a `runtime.Unknown` (apiVersion, kind, raw message). Numbers of fields come from
`schema/protobuf.txt`, types from the kind's schema tree. Go writes every field that is no pointer, empty or not: the zeros are
left to canonicalisation, as they are in JSON. Answers are never protobuf; every client that asks for it takes JSON too.
"""

from __future__ import annotations

import base64
import functools
import struct
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from typing import Any

import orjson
from msgspec import Struct

from setpoint.api.machinery.protobuf_wire import ProtobufError, fields, packed
from setpoint.api.machinery.schema.node import Node
from setpoint.kit.clock import rfc3339, rfc3339_micro

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"
MAX_DEPTH = 200

_META = "io.k8s.apimachinery.pkg.apis.meta.v1"


class Envelope(Struct, frozen=True):
    """What a body says it is, and the message itself."""

    api_version: str
    kind: str
    raw: bytes


def envelope(body: bytes) -> Envelope:
    """Open the envelope; raises ProtobufError."""
    if not body.startswith(MAGIC):
        raise ProtobufError("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    api_version = kind = ""
    raw = b""
    for number, value in fields(body[len(MAGIC) :]):
        if number == 1 and isinstance(value, bytes):
            for inner, text in fields(value):
                if isinstance(text, bytes):
                    word = text.decode(errors="replace")
                    api_version, kind = (word, kind) if inner == 1 else (api_version, word)
        elif number == 2 and isinstance(value, bytes):
            raw = value
    return Envelope(api_version, kind, raw)


def decode(body: bytes, node: Node) -> dict[str, Any]:
    """A body's object as JSON, beginning with the kind and apiVersion that the envelope names; raises ProtobufError."""
    opened = envelope(body)
    head = {"kind": opened.kind, "apiVersion": opened.api_version}
    try:
        return {**{name: text for name, text in head.items() if text}, **_message(opened.raw, node, node.definition, 0)}
    except (ValueError, IndexError, struct.error, OverflowError) as error:
        raise ProtobufError(f"cannot decode {opened.kind or 'message'}: {error}") from error


# --- messages ---


def _message(data: bytes, node: Node, type_name: str, depth: int) -> dict[str, Any]:
    if depth > MAX_DEPTH:
        raise ProtobufError("nested too deeply")
    numbers = _numbers(type_name)
    out: dict[str, Any] = {}
    for number, value in fields(data):
        name = numbers.get(number)
        if name is None:
            continue
        if name[0] == ">":
            if not isinstance(value, bytes):
                raise ProtobufError(f"{type_name}: field {number} is no message")
            out |= _message(value, node, _embedded(type_name, name), depth + 1)
            continue
        child = node.fields.get(name)
        if child is not None:
            _put(out, name, child, value, depth + 1)
    return out


def _put(out: dict[str, Any], name: str, node: Node, value: bytes | int, depth: int) -> None:
    if node.kind == "list" and node.items is not None:
        items = out.setdefault(name, [])
        if isinstance(value, bytes) and node.items.kind in _NUMBERS:
            items.extend(_signed(number) for number in packed(value))
        else:
            items.append(_value(value, node.items, depth))
    elif node.kind == "map" and node.items is not None:
        entry = dict(fields(_bytes(value)))
        held = entry.get(2, 0 if node.items.kind in _NUMBERS else b"")
        out.setdefault(name, {})[_text(entry.get(1, b""))] = _value(held, node.items, depth)
    else:
        out[name] = _value(value, node, depth)


def _value(value: bytes | int, node: Node, depth: int) -> Any:
    if node.kind == "object":
        return _message(_bytes(value), node, node.definition, depth)
    if node.kind in {"list", "map"} and node.items is not None:  # a named list, such as ExtraValue: a message of its own
        held: dict[str, Any] = {}
        for _, item in fields(_bytes(value)):
            _put(held, "items", node, item, depth + 1)
        return held.get("items", [])
    return _SCALARS[node.kind](value)


def _quantity(value: bytes | int) -> str | None:
    return _text(dict(fields(_bytes(value))).get(1, b"")) or None


def _int_or_string(value: bytes | int) -> int | str:
    held = dict(fields(_bytes(value)))
    return _text(held.get(3, b"")) if held.get(1) else _signed(_number(held.get(2, 0)))


def _time(value: bytes | int) -> str | None:
    seconds, nanos = _moment(value)
    return rfc3339(seconds) if seconds or nanos else None


def _micro_time(value: bytes | int) -> str | None:
    seconds, nanos = _moment(value)
    return rfc3339_micro(seconds + nanos // 1000 / 1e6) if seconds or nanos else None


def _moment(value: bytes | int) -> tuple[int, int]:
    held = dict(fields(_bytes(value)))
    return _signed(_number(held.get(1, 0))), _signed(_number(held.get(2, 0)))


def _raw_json(value: bytes | int) -> Any:
    raw = _bytes(dict(fields(_bytes(value))).get(1, b""))
    return orjson.loads(raw) if raw else None


def _double(value: bytes | int) -> float:
    return float(struct.unpack("<d", struct.pack("<Q", _number(value)))[0])


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _bytes(value: bytes | int) -> bytes:
    if isinstance(value, int):
        raise ProtobufError("a number where a message was expected")
    return value


def _number(value: bytes | int) -> int:
    if isinstance(value, bytes):
        raise ProtobufError("a message where a number was expected")
    return value


def _text(value: bytes | int) -> str:
    return _bytes(value).decode()


_NUMBERS = frozenset({"integer", "boolean", "number"})
_SCALARS: Mapping[str, Callable[[bytes | int], Any]] = {
    "string": _text,
    "integer": lambda value: _signed(_number(value)),
    "boolean": lambda value: bool(_number(value)),
    "number": _double,
    "bytes": lambda value: base64.b64encode(_bytes(value)).decode(),
    "quantity": _quantity,
    "int-or-string": _int_or_string,
    "time": _time,
    "micro-time": _micro_time,
    "any": _raw_json,
}


# --- the table of numbers ---


@functools.cache
def _table() -> Mapping[str, Mapping[int, str]]:
    table: dict[str, Mapping[int, str]] = {}
    package = ""
    text = resources.files("setpoint.api.machinery.schema").joinpath("protobuf.txt").read_text()
    for line in text.splitlines():
        if line.startswith("["):
            package = line[1:-1]
        elif line and not line.startswith("#"):
            name, *words = line.split()
            table[f"{package}.{name}"] = dict(_numbered(words))
    return table


def _numbered(words: list[str]) -> Iterator[tuple[int, str]]:
    number = 0
    for word in words:
        name, _, given = word.partition("=")
        number = int(given) if given else number + 1
        yield number, name


def _numbers(type_name: str) -> Mapping[int, str]:
    return _table().get(type_name, {})


def order(type_name: str) -> list[str]:
    """The names of a type's fields in the order of its Go struct, which the numbers follow; none of an unknown type."""
    names: list[str] = []
    for _, name in sorted(_numbers(type_name).items()):
        names += order(_embedded(type_name, name)) if name[0] == ">" else [name]
    return names


def _embedded(type_name: str, name: str) -> str:
    """The full name of an embedded type: one of the same package, or of `metav1`."""
    package, _, local = name[1:].rpartition(".")
    return f"{_META if package == 'metav1' else type_name.rpartition('.')[0]}.{local}"
