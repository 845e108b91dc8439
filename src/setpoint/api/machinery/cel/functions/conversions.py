"""Conversions between the standard types, and sizes. Source: the CEL specification and cel-go's `common/types`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from setpoint.api.machinery.cel.functions.operators import duration
from setpoint.api.machinery.cel.values import (
    NANO,
    CelError,
    Duration,
    Timestamp,
    TypeValue,
    Uint,
    parse_duration,
    parse_timestamp,
    seconds_text,
    timestamp,
    timestamp_text,
    type_name,
)

_MAX, _MIN, _MAX_UINT = 2**63 - 1, -(2**63), 2**64 - 1
_TRUE, _FALSE = {"1", "t", "T", "true", "TRUE", "True"}, {"0", "f", "F", "false", "FALSE", "False"}
_int_text = re.compile(r"[+-]?[0-9]+").fullmatch
_float_text = re.compile(
    r"[+-]?(?:[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE
).fullmatch


def quoted(text: str) -> str:
    """A text as Go's `%q` writes it, for messages."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _inconvertible(kind: str) -> CelError:
    return CelError(f"type conversion error from 'string' to '{kind}'")


def _string_to_bool(text: str) -> bool:
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise _inconvertible("bool")


def _string_to_int(text: str) -> int:
    if not _int_text(text):
        raise _inconvertible("int")
    value = int(text) if len(text) < 40 else _MAX + 1
    if not _MIN <= value <= _MAX:
        raise _inconvertible("int")
    return value


def _string_to_uint(text: str) -> Uint:
    if not re.fullmatch(r"[0-9]+", text):
        raise _inconvertible("uint")
    value = int(text) if len(text) < 40 else _MAX_UINT + 1
    if value > _MAX_UINT:
        raise _inconvertible("uint")
    return Uint(value)


def _string_to_double(text: str) -> float:
    if not _float_text(text):
        raise _inconvertible("double")
    value = float(text)
    if math.isinf(value) and "n" not in text.lower():
        raise _inconvertible("double")
    return value


def _double_to_int(value: float) -> int:
    if math.isnan(value) or not _MIN < value < _MAX:
        raise CelError("integer overflow")
    return int(value)


def _double_to_uint(value: float) -> Uint:
    if math.isnan(value) or not 0 <= value < _MAX_UINT:
        raise CelError("unsigned integer overflow")
    return Uint(value)


def _int_to_uint(value: int) -> Uint:
    if value < 0:
        raise CelError("unsigned integer overflow")
    return Uint(value)


def _uint_to_int(value: int) -> int:
    if value > _MAX:
        raise CelError("integer overflow")
    return int(value)


def _bytes_to_string(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None


def double_text(value: float) -> str:
    """The shortest text, as Go's `%g` gives it."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    text = repr(value)
    if value and not 1e-4 <= abs(value) < 1e6:
        mantissa, _, exponent = f"{Decimal(text).normalize():e}".partition("e")
        return f"{mantissa}e{exponent[0]}{exponent[1:].rjust(2, '0')}"
    return text.removesuffix(".0")


def _string_to_duration(text: str) -> Duration:
    value = parse_duration(text)
    if value is None:
        raise _inconvertible("google.protobuf.Duration")
    return value


def _string_to_timestamp(text: str) -> Timestamp:
    value = parse_timestamp(text)
    if value is None:
        raise _inconvertible("google.protobuf.Timestamp")
    return value


def _same(value: Any) -> Any:
    return value


OVERLOADS: dict[str, Callable[..., Any]] = {
    **{f"size_{kind}": len for kind in ("bytes", "list", "map", "string")},
    **{f"{kind}_size": len for kind in ("bytes", "list", "map", "string")},
    **dict.fromkeys(
        (
            "to_dyn", "bool_to_bool", "bytes_to_bytes", "double_to_double", "duration_to_duration", "int64_to_int64",
            "string_to_string", "timestamp_to_timestamp", "uint64_to_uint64",
        ),
        _same,
    ),
    "type": lambda value: TypeValue(type_name(value)),
    "string_to_bool": _string_to_bool,
    "string_to_bytes": lambda text: text.encode(),
    "int64_to_double": float,
    "uint64_to_double": float,
    "string_to_double": _string_to_double,
    "int64_to_duration": lambda seconds: duration(seconds * NANO),
    "string_to_duration": _string_to_duration,
    "double_to_int64": _double_to_int,
    "duration_to_int64": lambda value: value.nanos,
    "string_to_int64": _string_to_int,
    "timestamp_to_int64": lambda value: value.nanos // NANO,
    "uint64_to_int64": _uint_to_int,
    "bool_to_string": lambda value: "true" if value else "false",
    "bytes_to_string": _bytes_to_string,
    "double_to_string": double_text,
    "duration_to_string": seconds_text,
    "int64_to_string": str,
    "timestamp_to_string": timestamp_text,
    "uint64_to_string": lambda value: str(int(value)),
    "int64_to_timestamp": lambda seconds: timestamp(seconds * NANO),
    "string_to_timestamp": _string_to_timestamp,
    "double_to_uint64": _double_to_uint,
    "int64_to_uint64": _int_to_uint,
    "string_to_uint64": _string_to_uint,
}  # fmt: skip
