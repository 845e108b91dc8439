"""Protobuf's wire format: fields with a number each, whatever they mean."""

from __future__ import annotations

from collections.abc import Iterator

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5


class ProtobufError(ValueError):
    """The bytes are no message of the wanted kind."""


def varint(number: int) -> bytes:
    """A number that is not negative."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def delimited(number: int, data: bytes) -> bytes:
    """A field of bytes, a text or a message."""
    return varint(number << 3 | LENGTH) + varint(len(data)) + data


def fields(data: bytes) -> Iterator[tuple[int, bytes | int]]:
    """The fields of a message in order: number, and a varint or fixed number or the bytes of what has a length."""
    position = 0
    while position < len(data):
        key, position = read_varint(data, position)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, position = read_varint(data, position)
            yield number, value
        elif wire == LENGTH:
            length, position = read_varint(data, position)
            if position + length > len(data):
                raise ProtobufError("unexpected EOF")
            yield number, data[position : position + length]
            position += length
        elif wire in (FIXED64, FIXED32):
            size = 8 if wire == FIXED64 else 4
            if position + size > len(data):
                raise ProtobufError("unexpected EOF")
            yield number, int.from_bytes(data[position : position + size], "little")
            position += size
        else:
            raise ProtobufError(f"illegal wire type {wire}")


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """A number, and where the next thing begins."""
    result = shift = 0
    while True:
        if position >= len(data):
            raise ProtobufError("unexpected EOF")
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return result & 0xFFFFFFFFFFFFFFFF, position
        shift += 7
        if shift > 63:
            raise ProtobufError("integer overflow")


def packed(data: bytes) -> Iterator[int]:
    """Numbers that stand one after the other."""
    position = 0
    while position < len(data):
        value, position = read_varint(data, position)
        yield value
