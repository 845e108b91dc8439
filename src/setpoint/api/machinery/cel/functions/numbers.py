"""Kubernetes' quantities in expressions. Source: Kubernetes' `apiserver/pkg/cel/library/quantity.go`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from setpoint.api.machinery.cel.values import CelError, opaque_names
from setpoint.api.machinery.quantity import NANO, SUFFIX_WRONG, Quantity, QuantityError, parse

opaque_names[Quantity] = "kubernetes.Quantity"
_MAX = 2**63 - 1


def _to_quantity(text: str) -> Quantity:
    try:
        return parse(text)
    except QuantityError as error:
        raise CelError(str(error)) from None
    except ValueError:  # more digits than Python converts
        raise CelError(SUFFIX_WRONG) from None


def _is_quantity(text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def _is_integer(value: Quantity) -> bool:
    return value.nanos % NANO == 0 and abs(value.nanos // NANO) <= _MAX


def _as_integer(value: Quantity) -> int:
    if not _is_integer(value):
        raise CelError("cannot convert value to integer")
    return value.nanos // NANO


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


OVERLOADS: dict[str, Callable[..., Any]] = {
    "string_to_quantity": _to_quantity,
    "is_quantity_string": _is_quantity,
    "quantity_sign": lambda value: _sign(value.nanos),
    "quantity_is_greater_than": lambda one, other: one.nanos > other.nanos,
    "quantity_is_less_than": lambda one, other: one.nanos < other.nanos,
    "quantity_compare_to": lambda one, other: _sign(one.nanos - other.nanos),
    "quantity_get_float": Quantity.as_float,
    "quantity_get_int": _as_integer,
    "quantity_is_integer": _is_integer,
    "quantity_add": lambda one, other: one + other,
    "quantity_add_int": lambda one, other: one + Quantity.of(other),
    "quantity_sub": lambda one, other: one - other,
    "quantity_sub_int": lambda one, other: one - Quantity.of(other),
}
