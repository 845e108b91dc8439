"""Type checking: gives every part of an expression its type and every call its overloads, or says what does not fit.

The rules are those of the CEL specification's gradual typing, the complaints those of cel-go's `checker/checker.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count

from setpoint.api.machinery.cel.declarations import ONLY_IN_PATCHES, Overload, functions
from setpoint.api.machinery.cel.source import NOWHERE, CompileError, Issue
from setpoint.api.machinery.cel.syntax import Call, Expr, Fold, Ident, ListNode, Literal, MapNode, Message, Select
from setpoint.api.machinery.cel.tokens import RESERVED
from setpoint.api.machinery.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    UINT,
    Mappings,
    ObjectScope,
    Type,
    list_of,
    map_of,
    optional_of,
    type_of,
    variable,
)
from setpoint.api.machinery.cel.values import Uint

_LITERALS = {bool: BOOL, int: INT, Uint: UINT, float: DOUBLE, str: STRING, bytes: BYTES, type(None): NULL}
#: names that stand for types
TYPE_NAMES: dict[str, Type] = {
    **{str(kind): type_of(kind) for kind in (BOOL, INT, UINT, DOUBLE, STRING, BYTES)},
    "list": type_of(list_of(DYN)),
    "map": type_of(map_of(DYN, DYN)),
    "null_type": type_of(NULL),
    "type": type_of(type_of(DYN)),
    "optional_type": type_of(optional_of(DYN)),
    "google.protobuf.Timestamp": type_of(TIMESTAMP),
    "google.protobuf.Duration": type_of(DURATION),
    "net.IP": type_of(Type("net.IP")),
    "net.CIDR": type_of(Type("net.CIDR")),
    "kubernetes.URL": type_of(Type("kubernetes.URL")),
    "kubernetes.Quantity": type_of(Type("kubernetes.Quantity")),
    "kubernetes.Semver": type_of(Type("kubernetes.Semver")),
}


def check(text: str, tree: Expr, variables: Mapping[str, Type], messages: Callable[[str], Type | None] | None = None) -> Type:
    """The expression's type; the tree is annotated on the way. `messages` finds the types that expressions may construct.

    Raises CompileError with everything that does not fit.
    """
    checker = Checker(variables, messages)
    try:
        checker.visit(tree)
    except RecursionError:
        raise CompileError(text, [Issue(NOWHERE, "expression recursion limit exceeded: 250")]) from None
    if checker.issues:
        raise CompileError(text, checker.issues)
    return checker.settle(tree)


class Checker:
    """One expression's check."""

    def __init__(self, variables: Mapping[str, Type], messages: Callable[[str], Type | None] | None = None) -> None:
        self._messages = messages
        self.issues: list[Issue] = []
        self._mixing = 0
        self._scopes: list[Mapping[str, Type]] = [variables]
        self._mappings = Mappings()
        self._variables = count()
        self._visited: list[Expr] = []

    def settle(self, tree: Expr) -> Type:
        """Puts in what was learnt about unknown types in the end; what stays unknown is dyn."""
        for node in self._visited:
            node.type = self._mappings.applied(node.type, free=DYN)
        return tree.type

    def visit(self, node: Expr) -> Type:
        node.type = self._type(node)
        self._visited.append(node)
        return node.type

    def _type(self, node: Expr) -> Type:
        match node:
            case Literal():
                return _LITERALS[type(node.value)]
            case Ident():
                return self._ident(node)
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListNode():
                return self._list(node)
            case MapNode():
                return self._map(node)
            case Fold():
                return self._fold(node)
            case Message():
                return self._message(node)

    def _message(self, node: Message) -> Type:
        """A constructed object: every field must exist and fit."""
        known = self._messages(node.name) if self._messages is not None else None
        if known is None:
            return self._undeclared(node.offset, node.name)
        scope: ObjectScope = known.scope
        for name, value in node.fields:
            given, wanted = self.visit(value), scope.fields.get(name)
            if wanted is None:
                self._complain(value.offset, f"undefined field '{name}'")
            elif not self._mappings.assignable([wanted], [given]):
                found = self._mappings.applied(given)
                self._complain(value.offset, f"expected type of field '{name}' is '{wanted}' but provided type is '{found}'")
        return known

    def _complain(self, offset: int, message: str) -> Type:
        self.issues.append(Issue(offset, message))
        return ERROR

    def _undeclared(self, offset: int, name: str) -> Type:
        return self._complain(offset, f"undeclared reference to '{name}' (in container '')")

    def _known(self, name: str) -> Type | None:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return TYPE_NAMES.get(name)

    def _ident(self, node: Ident) -> Type:
        return self._known(node.name) or self._undeclared(node.offset, node.name)

    def _select(self, node: Select) -> Type:
        if (
            not node.test
            and not node.optional
            and (name := _qualified(node)) in TYPE_NAMES
            and name.partition(".")[0] not in self._scopes[0]
        ):
            return TYPE_NAMES[name]
        if not node.test and not node.optional and (whole := self._scopes[0].get(_qualified(node))) is not None:
            return whole  # a variable whose name has dots
        operand = self._mappings.applied(self.visit(node.operand))
        inner = operand.params[0] if operand.name == "optional" else operand
        result = self._field(node, self._mappings.resolve(inner))
        if node.test:
            return BOOL
        wrapped = node.optional or operand.name == "optional"
        return optional_of(result) if wrapped and result is not ERROR else result

    def _field(self, node: Select, operand: Type) -> Type:
        if operand.name == "map":
            return operand.params[1]
        if operand.name == "object":
            scope: ObjectScope = operand.scope
            found = scope.fields.get(node.field)
            if found is None and node.field in RESERVED:  # the word itself may stand for the escaped name
                found = scope.fields.get(f"__{node.field}__")
            return found or self._complain(node.offset, f"undefined field '{node.field}'")
        if operand.name == "param":
            self._mappings.assignable([operand], [DYN])
            return DYN
        if operand.name in {"dyn", "*error*"}:
            return DYN
        return self._complain(node.offset, f"type '{operand}' does not support field selection")

    def _call(self, node: Call) -> Type:
        if node.target is not None and (name := _qualified(node.target)):
            full = f"{name}.{node.function}"
            if full in functions() and (full != ONLY_IN_PATCHES or self._messages is not None):
                node.function, node.target = full, None
        args = [self.visit(node.target)] if node.target is not None else []
        self._mixing += node.function == "format"
        args += [self.visit(argument) for argument in node.args]
        self._mixing -= node.function == "format"
        overloads = functions().get(node.function)
        if overloads is None:
            return self._undeclared(node.offset, node.function)
        return self._resolve(node, overloads, args)

    def _resolve(self, node: Call, overloads: tuple[Overload, ...], args: list[Type]) -> Type:
        """All overloads that the arguments fit; results that differ make a dyn."""
        found: list[str] = []
        result: Type | None = None
        given = [self._mappings.applied(argument) for argument in args]
        for overload in overloads:
            if overload.method != (node.target is not None) or len(overload.params) != len(args):
                continue
            params, outcome = self._instance(overload)
            if self._mappings.assignable(params, given):
                found.append(overload.id)
                outcome = self._mappings.applied(outcome)
                result = outcome if result is None or result == outcome else DYN
        node.overloads = tuple(found)
        if result is None:
            return self._complain(node.offset, self._no_overload(node, given))
        return result

    def _variable(self) -> Type:
        return variable(next(self._variables))

    def _instance(self, overload: Overload) -> tuple[list[Type], Type]:
        """The overload's types with fresh parameters."""
        if not overload.generic:
            return list(overload.params), overload.result
        fresh = {name: self._variable() for name in overload.generic}
        return [_filled(param, fresh) for param in overload.params], _filled(overload.result, fresh)

    def _no_overload(self, node: Call, given: list[Type]) -> str:
        texts = [str(self._mappings.applied(argument)) for argument in given]
        applied = f"{texts[0]}.({', '.join(texts[1:])})" if node.target is not None else f"({', '.join(texts)})"
        return f"found no matching overload for '{node.function}' applied to '{applied}'"

    def _list(self, node: ListNode) -> Type:
        item: Type | None = None
        for index, element in enumerate(node.items):
            kind = self.visit(element)
            if index in node.optional:
                kind = self._unwrapped(element, kind)
            item = self._same(element.offset, item, kind)
        return list_of(item or self._variable())

    def _unwrapped(self, element: Expr, type: Type) -> Type:
        kind = self._mappings.applied(type)
        if kind.name == "optional":
            return kind.params[0]
        if kind.name == "dyn":
            return DYN
        return self._complain(element.offset, f"expected type 'optional_type({kind})' but found '{kind}'")

    def _same(self, offset: int, known: Type | None, type: Type) -> Type:
        """Lists and maps hold values of one type (Kubernetes asks for homogeneous literals); dyn fits in anywhere.

        Only what `format` shows may be mixed.
        """
        if known is None:
            return type
        if self._mixing:
            return self._mappings.joined(known, type)
        if not self._mappings.assignable([known], [type]):
            one, other = self._mappings.applied(known), self._mappings.applied(type)
            self._complain(offset, f"expected type '{one}' but found '{other}'")
            return known
        return self._mappings.joined(known, type)

    def _map(self, node: MapNode) -> Type:
        key: Type | None = None
        value: Type | None = None
        for entry in node.entries:
            key = self._same(entry.key.offset, key, self.visit(entry.key))
            kind = self.visit(entry.value)
            if entry.optional:
                kind = self._unwrapped(entry.value, kind)
            value = self._same(entry.value.offset, value, kind)
        return map_of(key or self._variable(), value or self._variable())

    def _fold(self, node: Fold) -> Type:
        source = self._mappings.applied(self.visit(node.range))
        if node.kind == "bind":
            return self._within({node.names[0]: source}, node.result)
        names = self._iterated(node, source)
        if names is None:
            names = dict.fromkeys(node.names, ERROR)
        self._scopes.append(names)
        try:
            return self._outcome(node, names)
        finally:
            self._scopes.pop()

    def _within(self, names: Mapping[str, Type], body: Expr | None) -> Type:
        self._scopes.append(names)
        try:
            return self.visit(body) if body is not None else ERROR
        finally:
            self._scopes.pop()

    def _iterated(self, node: Fold, range: Type) -> dict[str, Type] | None:
        two = len(node.names) == 2
        if range.name == "list":
            kinds: tuple[Type, ...] = (INT, range.params[0]) if two else (range.params[0],)
        elif range.name == "map":
            kinds = range.params if two else range.params[:1]
        elif range.name in {"dyn", "*error*", "param"}:
            self._mappings.assignable([range], [DYN])
            kinds = (DYN,) * len(node.names)
        else:
            self._complain(
                node.range.offset,
                f"expression of type '{range}' cannot be range of a comprehension (must be list, map, or dynamic)",
            )
            return None
        return dict(zip(node.names, kinds, strict=True))

    def _outcome(self, node: Fold, names: dict[str, Type]) -> Type:
        condition = self.visit(node.condition) if node.condition is not None else BOOL
        result = self.visit(node.result) if node.result is not None else ERROR
        outcome = self._container(node, result, names)
        if not self._mappings.assignable([BOOL], [condition]):
            self._complain(node.offset, self._bad_condition(node.kind, condition, outcome))
        return outcome

    def _container(self, node: Fold, result: Type, names: dict[str, Type]) -> Type:
        match node.kind:
            case "map" | "transformList":
                return list_of(result)
            case "filter":
                return list_of(names[node.names[0]])
            case "transformMap":
                return map_of(names[node.names[0]], result)
            case "transformMapEntry":
                return self._mappings.applied(result)
        return BOOL

    def _bad_condition(self, kind: str, condition: Type, outcome: Type) -> str:
        """The words of the operator that the macro stands for."""
        condition = self._mappings.applied(condition)
        if kind in {"all", "exists"}:
            sign = "_&&_" if kind == "all" else "_||_"
            return f"found no matching overload for '{sign}' applied to '(bool, {condition})'"
        other = INT if kind == "exists_one" else self._mappings.applied(outcome)
        return f"found no matching overload for '_?_:_' applied to '({condition}, {other}, {other})'"


def _filled(type: Type, fresh: Mapping[str, Type]) -> Type:
    if type.name == "param":
        return fresh.get(str(type.scope), type)
    if not type.params:
        return type
    return Type(type.name, tuple(_filled(param, fresh) for param in type.params), type.scope)


def _qualified(expr: Expr) -> str:
    if isinstance(expr, Ident):
        return expr.name
    if isinstance(expr, Select) and not expr.test and not expr.optional:
        before = _qualified(expr.operand)
        return f"{before}.{expr.field}" if before else ""
    return ""
