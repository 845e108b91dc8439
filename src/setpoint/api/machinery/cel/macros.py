"""The macros: calls that the parser turns into something else before any type is looked at.

`has`, the comprehensions with one variable and with two, `sortBy`, `optMap` and `optFlatMap`; Kubernetes has no `cel.bind`.
Source: the CEL specification and cel-go's `parser/macro.go`, `ext/comprehensions.go`, `ext/lists.go` and `cel/library.go`, whose
complaints these are.
"""

from __future__ import annotations

from setpoint.api.machinery.cel.source import Issue
from setpoint.api.machinery.cel.syntax import Call, Expr, Fold, Ident, ListNode, Select
from setpoint.api.machinery.cel.tokens import Token

_ONE_VARIABLE = {"all": 2, "exists": 2, "exists_one": 2, "existsOne": 2, "filter": 2}
_SPELLINGS = {"existsOne": "exists_one"}
_SORTED = "@__sortBy_input__"


def expand_function(name: Token, opening: Token, args: list[Expr], issues: list[Issue]) -> Expr | None:
    """`has(a.b)`; nothing if the function is no macro."""
    if name.text != "has" or len(args) != 1:
        return None
    operand = args[0]
    if isinstance(operand, Select) and not operand.test:
        return Select(opening.offset, operand.operand, operand.field, test=True, optional=operand.optional)
    issues.append(Issue(operand.offset, "invalid argument to has() macro"))
    return operand


def expand_method(target: Expr, name: Token, opening: Token, args: list[Expr], issues: list[Issue]) -> Expr | None:
    """`list.all(x, …)` and the like; nothing if the method is no macro."""
    function, count = name.text, len(args)
    if function in {"optMap", "optFlatMap"} and count == 2:
        return _optional(target, opening, args, issues, flat=function == "optFlatMap")
    if function == "sortBy" and count == 2:
        return _sort_by(target, opening, args, issues)
    if _ONE_VARIABLE.get(function) == count or (function == "map" and count in {2, 3}):
        return _one_variable(target, function, opening, args, issues)
    if function in {"all", "exists", "exists_one", "existsOne"} and count == 3:
        return _two_variables(target, function, opening, args, issues)
    if function in {"transformList", "transformMap", "transformMapEntry"} and count in {3, 4}:
        return _two_variables(target, function, opening, args, issues)
    return None


def _one_variable(target: Expr, function: str, opening: Token, args: list[Expr], issues: list[Issue]) -> Expr:
    variable = args[0]
    if not isinstance(variable, Ident):
        message = "argument is not an identifier" if function in {"map", "filter"} else "argument must be a simple name"
        issues.append(Issue(variable.offset, message))
        return target
    if variable.name in {"__result__", "@result"}:
        issues.append(Issue(variable.offset, "iteration variable overwrites accumulator variable"))
    kind = _SPELLINGS.get(function, function)
    if kind == "map":
        condition = args[1] if len(args) == 3 else None
        return Fold(opening.offset, kind, (variable.name,), target, condition, args[-1])
    return Fold(opening.offset, kind, (variable.name,), target, args[1])


def _two_variables(target: Expr, function: str, opening: Token, args: list[Expr], issues: list[Issue]) -> Expr:
    names = []
    for argument in args[:2]:
        if not isinstance(argument, Ident):
            issues.append(Issue(argument.offset, "argument must be a simple name"))
            return target
        names.append(argument.name)
    if names[0] == names[1]:
        issues.append(Issue(args[1].offset, f"duplicate variable name: {names[1]}"))
    kind = _SPELLINGS.get(function, function)
    if kind in {"all", "exists", "exists_one"}:
        return Fold(opening.offset, kind, tuple(names), target, args[2])
    return Fold(opening.offset, kind, tuple(names), target, args[2] if len(args) == 4 else None, args[-1])


def _sort_by(target: Expr, opening: Token, args: list[Expr], issues: list[Issue]) -> Expr:
    """`list.sortBy(x, key)`: bind the list to a name that no expression can spell, and sort it by its mapped keys."""
    if not isinstance(target, ListNode | Select | Ident | Fold | Call):
        message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        issues.append(Issue(target.offset, message))
        return target
    at = opening.offset
    keys = _one_variable(Ident(at, _SORTED), "map", opening, args, issues)
    return Fold(at, "bind", (_SORTED,), target, None, Call(at, "@sortByAssociatedKeys", [keys], Ident(at, _SORTED)))


def _optional(target: Expr, opening: Token, args: list[Expr], issues: list[Issue], *, flat: bool) -> Expr:
    """`target.optMap(x, f)`: if the target has a value, bind it to x and wrap f's result."""
    variable, body = args
    if not isinstance(variable, Ident):
        name = "optFlatMap()" if flat else "optMap()"
        issues.append(Issue(variable.offset, f"{name} variable name must be a simple identifier"))
        return target
    at = opening.offset
    value = Call(at, "value", [], target)
    bound = Fold(at, "bind", (variable.name,), value, None, body)
    some: Expr = bound if flat else Call(at, "optional.of", [bound])
    return Call(at, "_?_:_", [Call(at, "hasValue", [], target), some, Call(at, "optional.none", [])])
