"""A Status as protobuf: how a refusal is told to a client that wants nothing else.

The envelope is that of `protobuf`. Go writes every field that is no pointer, empty or not.
Source: apimachinery `pkg/apis/meta/v1/generated.proto`, `pkg/runtime/generated.proto`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.protobuf import MAGIC
from setpoint.api.machinery.protobuf_wire import VARINT, delimited, varint


def encode(status: Mapping[str, Any]) -> bytes:
    """The whole answer."""
    meta = status.get("metadata") or {}
    told = _text(1, "") + _text(2, meta.get("resourceVersion")) + _text(3, meta.get("continue"))
    raw = delimited(1, told) + _text(2, status.get("status")) + _text(3, status.get("message")) + _text(4, status.get("reason"))
    details = status.get("details")
    if details is not None:
        raw += delimited(5, _details(details))
    raw += _number(6, status.get("code"))
    kind = _text(1, "v1") + _text(2, "Status")
    return MAGIC + delimited(1, kind) + delimited(2, raw) + _text(3, "") + _text(4, "")


def _details(details: Mapping[str, Any]) -> bytes:
    causes = b"".join(delimited(4, _cause(cause)) for cause in details.get("causes") or ())
    words = _text(1, details.get("name")) + _text(2, details.get("group")) + _text(3, details.get("kind"))
    return words + causes + _number(5, details.get("retryAfterSeconds")) + _text(6, details.get("uid"))


def _cause(cause: Mapping[str, Any]) -> bytes:
    return _text(1, cause.get("reason")) + _text(2, cause.get("message")) + _text(3, cause.get("field"))


def _text(number: int, text: str | None) -> bytes:
    return delimited(number, (text or "").encode())


def _number(number: int, value: int | None) -> bytes:
    return varint(number << 3 | VARINT) + varint(value or 0)
