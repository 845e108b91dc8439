"""What cel-go's validators say of literals once an expression's types are right: durations, times, patterns, formats.

Source: cel-go `cel/validator.go` and `ext/formatting.go`, with the validators of Kubernetes' `apiserver/pkg/cel/environment`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from setpoint.api.machinery.cel.constants import constant
from setpoint.api.machinery.cel.functions.strings import UNFIT, pattern, verbs
from setpoint.api.machinery.cel.source import CompileError, Issue
from setpoint.api.machinery.cel.syntax import Call, Expr, ListNode, Literal, parts
from setpoint.api.machinery.cel.values import CelError

#: the types that a verb of a format takes
_TAKEN = {
    "d": frozenset({"int", "uint"}),
    "f": frozenset({"double"}),
    "e": frozenset({"double"}),
    "b": frozenset({"int", "uint", "bool"}),
    "o": frozenset({"int", "uint"}),
    "x": frozenset({"int", "uint", "string", "bytes"}),
}
_TAKEN["X"] = _TAKEN["x"]
_PLAIN = {"bool", "bytes", "double", "duration", "int", "list", "map", "null", "string", "timestamp", "type", "uint"}
_TAKEN["s"] = frozenset(_PLAIN)
#: types that have other names in messages
_NAMES = {"timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration", "null": "null_type"}


def validate(text: str, tree: Expr) -> None:
    """Raise CompileError for literals that no evaluation could use."""
    issues = [issue for call in _calls(tree) for issue in _CHECKS[call.function](call)]
    if issues:
        raise CompileError(text, issues)


def _calls(node: Expr) -> Iterator[Call]:
    if isinstance(node, Call) and node.function in _CHECKS:
        yield node
    for part in parts(node):
        yield from _calls(part)


def _conversion(call: Call) -> Iterator[Issue]:
    """`duration("x")`: a literal that cannot be converted."""
    if len(call.args) == 1 and isinstance(call.args[0], Literal) and call.target is None and constant(call) is None:
        yield Issue(call.args[0].offset, f"invalid {call.function} argument")


def _matches(call: Call) -> Iterator[Issue]:
    if call.args and isinstance(found := call.args[0], Literal) and isinstance(found.value, str):
        try:
            pattern(found.value)
        except CelError:
            yield Issue(found.offset, "invalid matches argument")


def _format(call: Call) -> Iterator[Issue]:
    """`"%d".format([…])` with both literals: its clauses must be known and fit the types of the arguments."""
    template = call.target
    if not (isinstance(template, Literal) and isinstance(template.value, str)):
        return
    if len(call.args) != 1 or not isinstance(found := call.args[0], ListNode):
        return
    try:
        wanted = list(verbs(template.value, len(found.items)))
    except CelError as error:
        yield Issue(call.offset, str(error))
        return
    for verb, argument in zip(wanted, found.items, strict=False):
        kind = argument.type.name
        if kind != "dyn" and kind not in _TAKEN[verb]:
            yield Issue(argument.offset, f"error during formatting: {UNFIT[verb]}, was given {_NAMES.get(kind, kind)}")
            return
    if len(found.items) > len(wanted):
        told = f"(expected {len(wanted)}, got {len(found.items)})"
        yield Issue(call.offset, f"too many arguments supplied to string.format {told}")


_CHECKS: dict[str, Callable[[Call], Iterator[Issue]]] = {
    "duration": _conversion,
    "timestamp": _conversion,
    "matches": _matches,
    "format": _format,
}
