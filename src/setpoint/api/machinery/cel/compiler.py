"""From a checked tree to nested Python functions that evaluate it, counting its cost as they go.

Each part of the tree becomes one function of the frame, which holds the variables and the cost so far. Evaluation always ends:
there are no loops but those over values, every call and every round of a loop is paid for, and a frame that has spent its limit
stops with CostExceeded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from setpoint.api.machinery.cel.checker import TYPE_NAMES
from setpoint.api.machinery.cel.constants import constant
from setpoint.api.machinery.cel.declarations import by_id
from setpoint.api.machinery.cel.folds import build_fold
from setpoint.api.machinery.cel.frame import Frame, Run
from setpoint.api.machinery.cel.functions import implementations
from setpoint.api.machinery.cel.functions.operators import find
from setpoint.api.machinery.cel.running_cost import LIST, MAP, OBJECT, Cost, cost_of
from setpoint.api.machinery.cel.syntax import Call, Expr, Fold, Ident, ListNode, Literal, MapNode, Message, Select
from setpoint.api.machinery.cel.types import ObjectScope, Type
from setpoint.api.machinery.cel.values import (
    NO_OVERLOAD,
    NONE,
    CelError,
    Constructed,
    Duration,
    Optional,
    Timestamp,
    TypeValue,
    Uint,
    opaque_names,
    type_name,
)

_CLASSES: dict[str, type | tuple[type, ...]] = {
    "string": str, "bytes": bytes, "bool": bool, "double": float, "uint": Uint, "list": list, "map": dict, "object": dict,
    "timestamp": Timestamp, "duration": Duration, "type": TypeValue, "null": type(None), "optional": Optional,
}  # fmt: skip


class Compiler:
    """One expression's compilation; `slots` counts the variables that its frame needs."""

    def __init__(self, variables: Sequence[str]) -> None:
        self._names: list[tuple[str, int]] = [(name, index) for index, name in enumerate(variables)]
        self.slots = len(variables)

    def build(self, node: Expr) -> Run:
        if not isinstance(node, Literal) and (folded := constant(node)) is not None:
            return _constant(folded[0])
        match node:
            case Literal(value=value):
                return _constant(value)
            case Ident():
                return self._ident(node.name)
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListNode():
                return self._list(node)
            case MapNode():
                return self._map(node)
            case Message():
                return self._message(node)
            case Fold():
                return build_fold(self, node)
        raise CelError(NO_OVERLOAD)

    def enter(self, name: str) -> int:
        """Makes room for a variable; `leave` forgets it."""
        self._names.append((name, self.slots))
        self.slots += 1
        return self.slots - 1

    def leave(self) -> None:
        self._names.pop()

    def _slot(self, name: str) -> int | None:
        return next((slot for known, slot in reversed(self._names) if known == name), None)

    def _ident(self, name: str) -> Run:
        slot = self._slot(name)
        if slot is None:
            return _constant_type(name)

        def run(frame: Frame) -> Any:
            frame.cost += 1
            return frame.values[slot]

        return run

    def _select(self, node: Select) -> Run:
        name = _qualified(node)
        if name in TYPE_NAMES and self._slot(name.partition(".")[0]) is None:
            return _constant_type(name)
        if name and not node.test and self._slot(name) is not None:
            return self._ident(name)  # a variable whose name has dots
        operand, field = self.build(node.operand), node.field
        holder = node.operand.type
        inner = holder.params[0] if holder.name == "optional" else holder
        nulls = True
        if inner.name == "object":
            scope: ObjectScope = inner.scope
            field, nulls = scope.written.get(field, field), scope.nulls
        if node.test:
            return _presence(operand, field, nulls=nulls)
        if node.optional or holder.name == "optional":
            return _optional_field(operand, field, nulls=nulls)
        return _field(operand, field, nulls=nulls)

    def _call(self, node: Call) -> Run:
        if node.function in {"_&&_", "_||_"}:
            left, right = (self.build(argument) for argument in node.args)
            return _logical(left, right, stop=node.function == "_||_")
        if node.function == "_?_:_":
            condition, truthy, falsy = (self.build(argument) for argument in node.args)
            return _conditional(condition, truthy, falsy, free=(_attribute(node.args[1]), _attribute(node.args[2])))
        if node.function in {"or", "orValue"} and node.target is not None:
            return _fallback(self.build(node.target), self.build(node.args[0]), whole=node.function == "or")
        if node.overloads == ("in_list",) and constant(node.args[1]) is not None:
            return _member(self.build(node.args[0]), self.build(node.args[1]))
        nodes = [*([node.target] if node.target is not None else []), *node.args]
        args = [self.build(argument) for argument in nodes]
        if node.function == "_[_]" and _attribute(node.args[1]):
            args[1] = _cheaper(args[1])
        if len(node.overloads) == 1 and not any(_vague(argument.type) for argument in nodes):
            return _direct(node.function, node.overloads[0], args)
        return _dispatch(node.function, node.overloads, args)

    def _list(self, node: ListNode) -> Run:
        items = [self.build(item) for item in node.items]
        optional = node.optional

        def run(frame: Frame) -> list[Any]:
            frame.spend(LIST)
            if not optional:
                return [item(frame) for item in items]
            values = [(item(frame), index in optional) for index, item in enumerate(items)]
            return [value.value if loose else value for value, loose in values if not loose or value.present]

        return run

    def _map(self, node: MapNode) -> Run:
        entries = [(self.build(entry.key), self.build(entry.value), entry.optional) for entry in node.entries]

        def run(frame: Frame) -> dict[Any, Any]:
            frame.spend(MAP)
            out: dict[Any, Any] = {}
            for key, value, optional in entries:
                name, content = key(frame), value(frame)
                if optional and not content.present:
                    continue
                if isinstance(name, list | dict):
                    raise CelError("unsupported key type")
                out[name] = content.value if optional else content
            return out

        return run

    def _message(self, node: Message) -> Run:
        fields, made_as = [(name, self.build(value)) for name, value in node.fields], node.name

        def run(frame: Frame) -> Constructed:
            frame.spend(OBJECT)
            out = Constructed({name: value(frame) for name, value in fields})
            out.name = made_as
            return out

        return run


def _constant_type(name: str) -> Run:
    return _constant(TypeValue(name))


def _constant(value: Any) -> Run:
    return lambda _: value


def _qualified(expr: Expr) -> str:
    if isinstance(expr, Ident):
        return expr.name
    if isinstance(expr, Select) and not expr.test and not expr.optional:
        before = _qualified(expr.operand)
        return f"{before}.{expr.field}" if before else ""
    return ""


def _attribute(node: Expr) -> bool:
    """Whether the expression is a variable's field, or a variable."""
    while isinstance(node, Select) and not node.test:
        node = node.operand
    return isinstance(node, Ident)


def _cheaper(run: Run) -> Run:
    """A variable's field as an index: the variable itself is free."""

    def run_cheaper(frame: Frame) -> Any:
        frame.cost -= 1
        return run(frame)

    return run_cheaper


def _field(operand: Run, field: str, *, nulls: bool) -> Run:
    """An object's field that is null counts as absent; a map's value may be null."""

    def run(frame: Frame) -> Any:
        holder = operand(frame)
        frame.cost += 1
        if not isinstance(holder, dict):
            raise CelError(NO_OVERLOAD)
        value = holder.get(field)
        if value is None and not (nulls and field in holder):
            raise CelError(f"no such key: {field}")
        return value

    return run


def _presence(operand: Run, field: str, *, nulls: bool) -> Run:
    def run(frame: Frame) -> bool:
        holder = operand(frame)
        if isinstance(holder, Optional):
            holder = holder.value if holder.present else {}
        if not isinstance(holder, dict):
            raise CelError(NO_OVERLOAD)
        return field in holder if nulls else holder.get(field) is not None

    return run


def _optional_field(operand: Run, field: str, *, nulls: bool) -> Run:
    def run(frame: Frame) -> Optional:
        holder = operand(frame)
        if isinstance(holder, Optional):
            if not holder.present:
                return NONE
            holder = holder.value
        if not isinstance(holder, dict):
            raise CelError(NO_OVERLOAD)
        found = find(holder, field)
        if found is None or (found[0] is None and not nulls):
            return NONE
        frame.spend(1)
        return Optional(found[0], present=True)

    return run


def _logical(left: Run, right: Run, *, stop: bool) -> Run:
    """`&&` and `||`: either side may decide alone, even if the other fails."""

    def run(frame: Frame) -> bool:
        failure: CelError | None = None
        value: Any
        try:
            value = left(frame)
            if value is stop:
                return bool(stop)
            if value is not (not stop):
                failure = CelError(NO_OVERLOAD)
        except CelError as error:
            failure = error
        value = right(frame)
        if value is stop:
            return bool(stop)
        if failure is not None:
            raise failure
        if value is not (not stop):
            raise CelError(NO_OVERLOAD)
        return not stop

    return run


def _conditional(condition: Run, truthy: Run, falsy: Run, *, free: tuple[bool, bool]) -> Run:
    """A branch that is a variable's field costs only its fields."""
    for_truth, for_falsehood = map(int, free)

    def run(frame: Frame) -> Any:
        value = condition(frame)
        if value is True:
            frame.cost -= for_truth
            return truthy(frame)
        if value is False:
            frame.cost -= for_falsehood
            return falsy(frame)
        raise CelError(NO_OVERLOAD)

    return run


def _member(item: Run, items: Run) -> Run:
    """Membership in a constant list is free."""
    contains = implementations()["in_list"]
    return lambda frame: contains(item(frame), items(frame))


def _fallback(target: Run, other: Run, *, whole: bool) -> Run:
    """`or` and `orValue`, which look at their argument only if they need it."""

    def run(frame: Frame) -> Any:
        holder = target(frame)
        if not isinstance(holder, Optional):
            raise CelError(NO_OVERLOAD)
        if holder.present:
            return holder if whole else holder.value
        return other(frame)

    return run


def _vague(type: Type) -> bool:
    return type.name in {"dyn", "*error*", "param"}


def _paid(function: str, overload: str) -> Callable[[Frame, Sequence[Any]], Any]:
    """The overload as a function of the frame and the arguments' values."""
    implementation, cost = implementations()[overload], cost_of(function, overload)

    def call(frame: Frame, values: Sequence[Any]) -> Any:
        try:
            result = implementation(*values)
        except (TypeError, AttributeError):
            raise CelError(NO_OVERLOAD) from None  # a null where the schema promised a value
        frame.spend(1 if cost is None else cost(values, result))
        return result

    return call


def _direct(function: str, overload: str, args: list[Run]) -> Run:
    call, cost = _paid(function, overload), cost_of(function, overload)

    def run(frame: Frame) -> Any:
        values = _evaluated(frame, args, cost)
        return call(frame, values)

    return run


def _evaluated(frame: Frame, args: list[Run], cost: Cost | None) -> list[Any]:
    """The arguments' values. All are evaluated and the call is paid for even if one fails; then that failure is the call's."""
    values: list[Any] = []
    failure: CelError | None = None
    for argument in args:
        try:
            values.append(argument(frame))
        except CelError as error:
            values.append(None)
            failure = failure or error
    if failure is not None:
        frame.spend(1 if cost is None else cost(values, None))
        raise failure
    return values


def _dispatch(function: str, overloads: tuple[str, ...], args: list[Run]) -> Run:
    """The overload is chosen by the values: some argument's type is known only now."""
    choices = [([_test(param) for param in by_id()[overload].params], _paid(function, overload)) for overload in overloads]

    def run(frame: Frame) -> Any:
        values = _evaluated(frame, args, None)
        for tests, call in choices:
            if all(test(value) for test, value in zip(tests, values, strict=True)):
                return call(frame, values)
        if function.startswith(("_", "@", "!", "-")):
            raise CelError(NO_OVERLOAD)
        raise CelError(f"{NO_OVERLOAD}: {function}({', '.join(map(type_name, values))})")

    return run


def _test(type: Type) -> Callable[[Any], bool]:
    if type.name in {"dyn", "param"}:
        return lambda _: True
    if type.name == "int":
        return lambda value: isinstance(value, int) and not isinstance(value, bool | Uint)
    if type.name == "list" and type.params and type.params[0].name not in {"dyn", "param"}:
        item = _test(type.params[0])
        return lambda value: isinstance(value, list) and (not value or item(value[0]))
    kind = _CLASSES.get(type.name)
    if kind is None:
        return lambda value: opaque_names.get(value.__class__) == type.name
    return lambda value: isinstance(value, kind)
