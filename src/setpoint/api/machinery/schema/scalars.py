"""Scalars as Go's structs hold them: what each kind of field takes, and how it is spelled when written again."""

from __future__ import annotations

import base64
import binascii
import functools
from collections.abc import Callable
from typing import Any

from setpoint.api.machinery import quantity
from setpoint.api.machinery.schema import times
from setpoint.api.machinery.schema.node import Node

#: the work on one value: it returns what is written instead, and raises Unfit (or the kind's own ValueError)
Operation = Callable[[Any], Any]

_INT32 = range(-(2**31), 2**31)
_INT64 = range(-(2**63), 2**63)


class Unfit(ValueError):
    """A value that the Go struct could not hold, or (for `fit`) a field that it does not have."""

    def __init__(self, what: str = "") -> None:
        super().__init__(what or "a value does not fit its field")


def operation(node: Node) -> Operation:
    """The check, and the spelling, of a scalar."""
    if node.kind == "integer":
        return functools.partial(_integer, _INT32 if node.format == "int32" else _INT64)
    return {
        "string": _string,
        "boolean": _boolean,
        "number": _number,
        "bytes": _base64,
        "quantity": _quantity,
        "int-or-string": _int_or_string,
        "micro-time": times.canonical_micro,
    }[node.kind]


def _string(value: Any) -> str:
    if type(value) is not str:
        raise Unfit
    return value


def _boolean(value: Any) -> bool:
    if type(value) is not bool:
        raise Unfit
    return value


def _integer(bounds: range, value: Any) -> int:
    if type(value) is not int or value not in bounds:
        raise Unfit
    return value


def _int_or_string(value: Any) -> Any:
    if type(value) is not str and (type(value) is not int or value not in _INT32):
        raise Unfit
    return value


def _number(value: Any) -> float:
    """Go writes a whole float without a point; here one that fits a JSON writer's integers."""
    if type(value) is float:
        return int(value) if value.is_integer() and abs(value) < 2.0**63 else value
    if type(value) is not int:
        raise Unfit
    return value


def _quantity(value: Any) -> str:
    if type(value) is str:
        return quantity.canonical(value)
    if type(value) is int:
        return quantity.canonical(str(value))
    raise Unfit  # of a float only the spelling in the body says what it is (1e3)


def time_by_value(value: Any) -> str | None:
    text = times.canonical(value)
    return None if text == times.ZERO else text


def _base64(value: Any) -> str:
    if type(value) is not str:
        raise Unfit
    try:
        return base64.b64encode(base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True)).decode("ascii")
    except binascii.Error as error:
        raise Unfit(str(error)) from error
