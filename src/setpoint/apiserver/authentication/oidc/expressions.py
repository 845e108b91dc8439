"""The CEL expressions of an authentication configuration: over a token's `claims`, or over the `user` that was made of them.

Source: Kubernetes `apiserver/pkg/authentication/cel`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from setpoint.api.machinery.status import FieldError, invalid

if TYPE_CHECKING:
    from setpoint.api.machinery.cel.expression import Expression
    from setpoint.api.machinery.cel.types import Type

_USER = {
    "username": "string",
    "uid": "string",
    "groups": "list(string)",
    "extra": "map(string,list(string))",
}


@cache
def _variables(name: str) -> Mapping[str, Type]:
    from setpoint.api.machinery.cel.types import ObjectScope, object_type, parse_type

    if name == "claims":
        return {"claims": parse_type("map(string,dyn)")}
    fields = {field: parse_type(kind) for field, kind in _USER.items()}
    return {"user": object_type(ObjectScope("kubernetes.UserInfo", fields))}


def compiled(text: str, variable: str) -> Expression:
    """An expression over one variable; raises CompileError."""
    from setpoint.api.machinery.cel import compile_expression

    return compile_expression(text, _variables(variable))


def complaints(path: str, text: str, variable: str, results: Sequence[str]) -> list[FieldError]:
    """What is wrong with an expression that must evaluate to one of these types."""
    from setpoint.api.machinery.cel.source import CompileError

    try:
        found = str(compiled(text, variable).type)
    except CompileError as error:
        return [invalid(path, text, f"compilation failed: {error}")]
    if found in {*results, "dyn"} or (found == "list(dyn)" and "list(string)" in results):
        return []
    wanted = f"must evaluate to {results[0]}" if len(results) == 1 else "must evaluate to a string or a list of strings"
    return [invalid(path, text, wanted)]
