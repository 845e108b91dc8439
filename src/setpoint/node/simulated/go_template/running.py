"""What a template becomes when it is read: functions that write into a scope, or give a value in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from setpoint.node.simulated.go_template.lexing import TemplateError


class Break(Exception):
    """`{{break}}`."""


class Continue(Exception):
    """`{{continue}}`."""


class Scope(Struct):
    """Where a template is: dot, variables, and what is written so far."""

    dot: Any
    variables: list[tuple[str, Any]]
    out: list[str] = field(default_factory=list)

    def get(self, name: str) -> Any:
        return next(value for known, value in reversed(self.variables) if known == name)

    def assign(self, name: str, value: Any) -> None:
        place = max(index for index, each in enumerate(self.variables) if each[0] == name)
        self.variables[place] = (name, value)


Node = Callable[[Scope], None]
Value = Callable[[Scope], Any]


def sequence(nodes: Sequence[Node]) -> Node:
    """Nodes one after the other; variables that they declare are gone after them."""

    def run(scope: Scope) -> None:
        known = len(scope.variables)
        for node in nodes:
            node(scope)
        del scope.variables[known:]

    return run


def text_node(text: str) -> Node:
    return lambda scope: scope.out.append(text)


def constant(value: Any) -> Value:
    return lambda _: value


def raiser(error: type[Exception]) -> Node:
    def run(_: Scope) -> None:
        raise error

    return run


def with_variable(scope: Scope, name: str, value: Any, node: Node) -> None:
    """Run a node with one more variable, if it has a name."""
    if not name:
        node(scope)
        return
    scope.variables.append((name, value))
    node(scope)
    scope.variables.pop()


def member(value: Any, names: Sequence[str]) -> Any:
    """A member of a member; one that is not there is nothing."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def items_of(value: Any) -> list[tuple[Any, Any]]:
    """What `range` goes over: keys, or indexes, with their values."""
    if isinstance(value, Mapping):
        return sorted(value.items())
    if isinstance(value, int) and not isinstance(value, bool):
        return [(index, index) for index in range(value)]
    return list(enumerate(value or ()))


def call(name: str, function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """A function's value. Raises TemplateError."""
    try:
        return function(*arguments)
    except (TypeError, ValueError, KeyError, IndexError) as error:
        raise TemplateError(f"{name}: {error}") from error
