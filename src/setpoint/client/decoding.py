"""From the wire's bytes to Structs, with one set of msgspec decoders per type.

Lists and watch events decode their objects straight from the bytes of the whole, without plain JSON in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar, cast

import msgspec

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.base import convert

T = TypeVar("T")
_KEPT = 64


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class _List(msgspec.Struct, Generic[T]):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    items: list[T] | None = None


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Recent(Generic[T]):
    """The objects that were decoded last, by their JSON: from one to two times _KEPT of them."""

    def __init__(self) -> None:
        self._new: dict[bytes, T] = {}
        self._old: dict[bytes, T] = {}

    def get(self, text: bytes) -> T | None:
        found = self._new.get(text)
        return found if found is not None else self._old.get(text)

    def put(self, text: bytes, obj: T) -> None:
        if len(self._new) >= _KEPT:
            self._old, self._new = self._new, {}
        self._new[text] = obj


def _is_frozen(type_: type[Any]) -> bool:
    return issubclass(type_, msgspec.Struct) and type_.__struct_config__.frozen


class Decoders(Generic[T]):
    """What one type of object needs."""

    def __init__(self, type_: type[T]) -> None:
        target: Any = type_
        self._type = type_
        self._object = msgspec.json.Decoder(target)
        self._shared: _Recent[T] | None = _Recent() if _is_frozen(type_) else None
        self._list = msgspec.json.Decoder(_List[target])

    def object(self, body: bytes | msgspec.Raw) -> T:
        """One object; nulls that a careless server writes count as absent.

        What several informers of this process, or a writer and an informer, get to see is decoded once: nobody can change it.
        """
        if self._shared is None:
            return self._decode(body)
        text = bytes(body)
        found = self._shared.get(text)
        if found is None:
            found = self._decode(text)
            self._shared.put(text, found)
        return found

    def _decode(self, body: bytes | msgspec.Raw) -> T:
        try:
            return cast("T", self._object.decode(body))
        except msgspec.ValidationError:
            return convert(msgspec.json.decode(body), self._type)

    def list(self, body: bytes) -> tuple[list[T], str, str]:
        """Items, resourceVersion, continue token."""
        try:
            whole = self._list.decode(body)
            items = whole.items or []
        except msgspec.ValidationError:
            whole = _RAW_LIST.decode(body)
            items = [self.object(item) for item in whole.items or []]
        return items, whole.metadata.resource_version, whole.metadata.continue_

    def events(self, lines: bytes) -> Iterator[tuple[str, T]]:
        """The events of complete lines; raises StatusError at one of type ERROR."""
        for event in _EVENTS.decode_lines(lines):
            if event.type == "ERROR":
                raise StatusError.parse(msgspec.json.decode(event.object))
            # every bookmark is another object, which nobody sees but its watch
            decode = self.object if event.type != "BOOKMARK" else self._decode
            yield event.type, decode(event.object)


_RAW_LIST = msgspec.json.Decoder(_List[msgspec.Raw])
_EVENTS = msgspec.json.Decoder(_Event)


_KNOWN: dict[type[Any], Decoders[Any]] = {}


def of(type_: type[T]) -> Decoders[T]:
    """The decoders of a type, made when first needed."""
    known = _KNOWN.get(type_)
    if known is None:
        known = _KNOWN[type_] = Decoders(type_)
    return known


def complete_lines(rest: bytes, chunk: bytes) -> tuple[bytes, bytes]:
    """What of `rest` + `chunk` is complete lines, and the beginning of the next one."""
    data = rest + chunk if rest else chunk
    if data.endswith(b"\n"):
        return data, b""
    head, newline, tail = data.rpartition(b"\n")
    return head + newline, tail
