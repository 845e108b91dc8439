"""What the generated Structs have in common, and how bytes become one.

The Structs are frozen views of an object: fields that they do not know are dropped when read, so nothing is ever written
from one. Go reads a null as absence everywhere, and writes one for a zero time and for a nil list that is always written.
The Structs accept the nulls that a server writes (`Nullable`) and turn them into the zero; `decode` also accepts those that
only a careless server writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Optional, TypeVar

import msgspec

T = TypeVar("T")

if TYPE_CHECKING:
    Nullable = Annotated[T, "written as null when zero"]
else:
    Nullable = Optional  # msgspec must let the null in; __post_init__ replaces it


class View(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The base of every generated Struct: immutable, and free of cycles, so that the garbage collector need not follow it."""


_DECODERS: dict[type, msgspec.json.Decoder[Any]] = {}


def decode(body: bytes | memoryview, type: type[T]) -> T:
    """The object in `body` as a Struct; msgspec.DecodeError (a ValueError) if it is no such object."""
    reader: msgspec.json.Decoder[T] | None = _DECODERS.get(type)
    if reader is None:
        reader = _DECODERS[type] = msgspec.json.Decoder(type)
    try:
        return reader.decode(body)
    except msgspec.ValidationError:
        return msgspec.convert(without_nulls(msgspec.json.decode(body)), type, strict=False)


def convert(obj: Any, type: type[T]) -> T:
    """A plain JSON object as a Struct."""
    try:
        return msgspec.convert(obj, type)
    except msgspec.ValidationError:
        return msgspec.convert(without_nulls(obj), type, strict=False)


def without_nulls(value: Any) -> Any:
    """A copy without the members that are null, as Go reads it."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
