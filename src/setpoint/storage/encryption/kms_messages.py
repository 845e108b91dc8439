"""The messages of Kubernetes' KMS v2, and of what its envelopes look like in the store: protobuf with texts, bytes, one number
and maps from text to bytes, which is little enough to be read and written here.

Sources: `k8s.io/kms/apis/v2/api.proto`, apiserver `pkg/storage/value/encrypt/envelope/kmsv2/v2/api.proto`.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from setpoint.api.machinery.protobuf_wire import VARINT, ProtobufError, delimited, fields, read_varint, varint

_DATA = b"\x0a"  # how the data of an EncryptedObject begin: field 1, of a length
#: how the data key of an object was made: it is the key itself, or the seed that each object's own key is derived from
KEY, SEED = 0, 1

Annotations = Mapping[str, bytes]


class Status(Struct, frozen=True):
    """What a plugin says of itself."""

    version: str = ""
    healthz: str = ""
    key_id: str = ""


class Wrapped(Struct, frozen=True):
    """A data key as a plugin has encrypted it."""

    ciphertext: bytes = b""
    key_id: str = ""
    annotations: Annotations = field(default_factory=dict)


class Sealed(Struct, frozen=True):
    """An object in the store (`EncryptedObject`): its data, and the data key, encrypted."""

    data: bytes
    wrapped: Wrapped
    kind: int = SEED


def status_of(message: bytes) -> Status:
    found = dict(fields(message))
    return Status(_text(found.get(1)), _text(found.get(2)), _text(found.get(3)))


def encrypt_request(plaintext: bytes, uid: str) -> bytes:
    return _bytes(1, plaintext) + _bytes(2, uid.encode())


def wrapped_of(message: bytes) -> Wrapped:
    """Of an EncryptResponse."""
    found = dict(fields(message))
    return Wrapped(_raw(found.get(1)), _text(found.get(2)), _annotations(message, 3))


def decrypt_request(wrapped: Wrapped, uid: str) -> bytes:
    words = _bytes(1, wrapped.ciphertext) + _bytes(2, uid.encode()) + _bytes(3, wrapped.key_id.encode())
    return words + _map(4, wrapped.annotations)


def plaintext_of(message: bytes) -> bytes:
    """Of a DecryptResponse."""
    return _raw(dict(fields(message)).get(1))


def seal(data: bytes, tail: bytes) -> bytes:
    """An object in the store, of its data and `tail_of` its key."""
    return _bytes(1, data) + tail


def tail_of(wrapped: Wrapped, kind: int = SEED) -> bytes:
    """What follows the data: the same bytes in all objects of one key."""
    start = _bytes(2, wrapped.key_id.encode()) + _bytes(3, wrapped.ciphertext)
    return start + _map(4, wrapped.annotations) + (varint(5 << 3 | VARINT) + varint(kind) if kind else b"")


def split(message: bytes) -> tuple[bytes, bytes]:
    """The data of an object, and the rest; raises ProtobufError. Whatever writes protobuf writes the first field first."""
    if message[:1] != _DATA:
        sealed = sealed_of(message)
        return sealed.data, tail_of(sealed.wrapped, sealed.kind)
    length, start = read_varint(message, 1)
    if start + length > len(message):
        raise ProtobufError("unexpected end of the message")
    return message[start : start + length], message[start + length :]


def sealed_of(message: bytes) -> Sealed:
    """Of what lies in the store; raises ProtobufError."""
    found = dict(fields(message))
    kind = found.get(5, 0)
    if not isinstance(kind, int) or kind not in (KEY, SEED):
        raise ProtobufError(f"unknown encryptedDEKSourceType: {kind!r}")
    wrapped = Wrapped(_raw(found.get(3)), _text(found.get(2)), _annotations(message, 4))
    return Sealed(_raw(found.get(1)), wrapped, kind)


# ---- protobuf


def _raw(value: bytes | int | None) -> bytes:
    return value if isinstance(value, bytes) else b""


def _text(value: bytes | int | None) -> str:
    return _raw(value).decode(errors="replace")


def _annotations(message: bytes, number: int) -> Annotations:
    entries = (dict(fields(_raw(value))) for each, value in fields(message) if each == number)
    return {_text(entry.get(1)): _raw(entry.get(2)) for entry in entries}


def _bytes(number: int, data: bytes) -> bytes:
    """A field; none for what is empty, as proto3 has it."""
    return delimited(number, data) if data else b""


def _map(number: int, entries: Annotations) -> bytes:
    return b"".join(_bytes(number, _bytes(1, key.encode()) + _bytes(2, entries[key])) for key in sorted(entries))
