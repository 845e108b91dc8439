"""An expression from its text to its answers: parse, check, compile, estimate, evaluate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from setpoint.api.machinery.cel.checker import check
from setpoint.api.machinery.cel.compiler import Compiler
from setpoint.api.machinery.cel.constants import complaint
from setpoint.api.machinery.cel.estimate import estimate_cost
from setpoint.api.machinery.cel.frame import LONGEST, Frame
from setpoint.api.machinery.cel.functions.strings import pattern
from setpoint.api.machinery.cel.literals import validate
from setpoint.api.machinery.cel.parser import parse
from setpoint.api.machinery.cel.running_cost import PER_CALL_LIMIT
from setpoint.api.machinery.cel.schema_types import Decl
from setpoint.api.machinery.cel.source import InstantiationError
from setpoint.api.machinery.cel.syntax import Call, Expr, Fold, Ident, Literal, parts
from setpoint.api.machinery.cel.types import Type
from setpoint.api.machinery.cel.values import NO_OVERLOAD, CelError, Stopped, work


class Expression:
    """A compiled expression. `type` is its result's type, `names` the variables that it mentions."""

    def __init__(self, text: str, variables: Mapping[str, Type], messages: Callable[[str], Type | None] | None = None) -> None:
        """Compiles a text. `messages` finds the types of objects that it may construct.

        Raises CompileError, whose message is what a definition's author should see; for a pattern that is none an
        InstantiationError.
        """
        self.text = text
        self.tree = parse(text)
        self.type = check(text, self.tree, variables, messages)
        validate(text, self.tree)
        self.names = frozenset(_names(self.tree)) & frozenset(variables)
        _check_constants(self.tree)
        compiler = Compiler(list(variables))
        self._run = compiler.build(self.tree)
        self._slots = compiler.slots

    def estimated_cost(self, root: Decl | None) -> int:
        """The most that one evaluation may cost."""
        return estimate_cost(self.tree, root)

    def evaluate(self, values: Sequence[Any], limit: int = PER_CALL_LIMIT, seconds: float = LONGEST) -> Outcome:
        """The expression's value for the variables' values, in the order they were declared in.

        Never raises for what the expression does: a failure is part of the outcome.
        """
        frame = Frame([*values, *[None] * (self._slots - len(values))], limit, seconds)
        value, error = None, ""
        before = work.begin()
        try:
            value = self._run(frame)
            frame.spend(0)
        except (CelError, Stopped) as failure:
            error = str(failure)
        except RecursionError:
            error = "expression recursion limit exceeded"
        except TypeError:  # a list as a map's key, say
            error = NO_OVERLOAD
        except (ValueError, ArithmeticError, MemoryError):
            error = "value out of range"
        finally:
            work.resume(before)
        return Outcome(value, error, frame.cost)


class Outcome:
    """A value, or an error, and what it cost."""

    __slots__ = ("cost", "error", "value")

    def __init__(self, value: Any, error: str, cost: int) -> None:
        self.value = value
        self.error = error
        self.cost = cost


#: where these functions have their pattern
_PATTERNS = {"matches": -1, "find": 0, "findAll": 0}


def _check_constants(node: Expr) -> None:
    """Constant patterns are compiled ahead and constants converted, so that bad ones are found with the expression."""
    if why := complaint(node):
        raise InstantiationError(why)
    if isinstance(node, Call) and node.function in _PATTERNS and node.args:
        argument = node.args[_PATTERNS[node.function]]
        if isinstance(argument, Literal) and isinstance(argument.value, str):
            try:
                pattern(argument.value)
            except CelError as error:
                raise InstantiationError(str(error)) from error
    for part in parts(node):
        _check_constants(part)


def _names(node: Expr, bound: frozenset[str] = frozenset()) -> set[str]:
    """The free variables of an expression."""
    if isinstance(node, Ident):
        return {node.name} - bound
    if isinstance(node, Fold):
        inner = bound | frozenset(node.names)
        inside = [part for part in (node.condition, node.result) if part is not None]
        return _names(node.range, bound).union(*(_names(part, inner) for part in inside))
    return set[str]().union(*(_names(part, bound) for part in parts(node)))
