"""The syntax tree of an expression. The checker fills in `type` and a call's `overloads`; nothing else changes."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from setpoint.api.machinery.cel.types import DYN, Type


class Node(Struct, eq=False):
    """Any part of an expression; `offset` is the place that complaints point at."""

    offset: int


class Literal(Node):
    """A value written out."""

    value: Any
    type: Type = DYN


class Ident(Node):
    """A variable, or a type's name."""

    name: str
    type: Type = DYN


class Select(Node):
    """`operand.field`; `test` is `has(…)`, `optional` the form `operand.?field`."""

    operand: Expr
    field: str
    test: bool = False
    optional: bool = False
    type: Type = DYN


class Call(Node):
    """A function, method or operator; `target` is what stands before the dot of a method."""

    function: str
    args: list[Expr]
    target: Expr | None = None
    overloads: tuple[str, ...] = ()
    type: Type = DYN


class ListNode(Node):
    """`[a, ?b]`; `optional` are the places of entries that may be absent."""

    items: list[Expr]
    optional: frozenset[int] = frozenset()
    type: Type = DYN


class Entry(Node):
    """A key and its value in a map."""

    key: Expr
    value: Expr
    optional: bool = False


class MapNode(Node):
    """`{key: value}`."""

    entries: list[Entry]
    type: Type = DYN


class Message(Node):
    """`Name{field: value}`: only mutations of admission policies have such types; the checker refuses others by name."""

    name: str
    fields: list[tuple[str, Expr]] = []
    type: Type = DYN


class Fold(Node):
    """A macro over a range, or a binding (whose range is the bound value).

    `kind` is the macro's name; `names` its one or two variables; `condition` the predicate of `all`, `exists`, `filter` and of
    the filtered `map`; `result` what `map` and the transforms make, and the body of `bind`.
    """

    kind: str
    names: tuple[str, ...]
    range: Expr
    condition: Expr | None = None
    result: Expr | None = None
    type: Type = DYN


Expr = Literal | Ident | Select | Call | ListNode | MapNode | Message | Fold


def parts(node: Expr) -> list[Expr]:
    """The expressions that an expression is made of."""
    match node:
        case Select():
            return [node.operand]
        case Call():
            return [*node.args, *([node.target] if node.target is not None else [])]
        case ListNode():
            return node.items
        case Fold():
            return [part for part in (node.range, node.condition, node.result) if part is not None]
        case Message():
            return [value for _, value in node.fields]
        case MapNode():
            return [part for entry in node.entries for part in (entry.key, entry.value)]
    return []
