"""Parts of an expression whose value is known before it runs: they are worked out once, and cost nothing.

cel-go's optimiser folds what is folded here and no more: literals of lists and maps, and conversions of constants.
"""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery.cel.functions import implementations
from setpoint.api.machinery.cel.syntax import Call, Expr, ListNode, Literal, MapNode
from setpoint.api.machinery.cel.values import CelError

_CONVERSIONS = {"bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint"}


def constant(node: Expr) -> tuple[Any] | None:
    """The constant that the expression is, in a tuple; nothing if it is none, or fails."""
    match node:
        case Literal(value=value):
            return (value,)
        case ListNode(items=items, optional=optional) if not optional:
            values = [constant(item) for item in items]
            return None if None in values else ([value[0] for value in values if value],)
        case MapNode():
            return _map(node)
        case Call(function=function, args=[argument], target=None) if function in _CONVERSIONS and len(node.overloads) == 1:
            return _converted(node.overloads[0], constant(argument))
    return None


def complaint(node: Expr) -> str:
    """Why the expression is a conversion that fails whenever it runs; empty if it is none."""
    if not isinstance(node, Call) or node.function not in _CONVERSIONS or node.target is not None or len(node.overloads) != 1:
        return ""
    known = constant(node.args[0])
    try:
        implementations()[node.overloads[0]](*known) if known is not None else None
    except CelError as error:
        return str(error)
    except (ValueError, ArithmeticError):
        return ""
    return ""


def _map(node: MapNode) -> tuple[Any] | None:
    out: dict[Any, Any] = {}
    for entry in node.entries:
        key, value = constant(entry.key), constant(entry.value)
        if key is None or value is None or entry.optional or isinstance(key[0], list | dict):
            return None
        out[key[0]] = value[0]
    return (out,)


def _converted(overload: str, argument: tuple[Any] | None) -> tuple[Any] | None:
    if argument is None:
        return None
    try:
        return (implementations()[overload](argument[0]),)
    except (CelError, ValueError, ArithmeticError):
        return None
