"""Objects as Kubernetes' Go structs round-trip them (design, decision 2).

A built-in kind is read into a struct, stored as protobuf and written from a struct again. What that does to its JSON:

- null is absence; in a list or a map it is the zero of the item.
- A zero scalar, empty list or empty map vanishes where the field holds a value with `omitempty`; a pointer keeps its zero.
- A struct by value always appears (`resources: {}`), so do fields without `omitempty`; there an empty list or map is null,
  since protobuf cannot tell empty from nil; a zero time by value is null, a zero quantity `0`.
- Times become whole seconds in UTC, micro times six digits; quantities their canonical spelling; bytes plain base64.

Custom resources keep what they are given: only their metadata goes through here. Fields that are not in the tree are dropped.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, cast

from setpoint.api.machinery import quantity
from setpoint.api.machinery.schema import times
from setpoint.api.machinery.schema.node import Fields, Node

#: a field's work on its value; `_DROP` for "not written"
Operation = Callable[[Any], Any]

_DROP: Any = object()
# the frequent operations, told apart by identity so that they cost no call
_OMIT_ZERO: Operation = cast("Operation", object())
_OMIT_NULL: Operation = cast("Operation", object())
_KEEP: Operation = cast("Operation", object())

#: fields of features that are off by default in 1.36: never stored
DISABLED: frozenset[tuple[str, str]] = frozenset()

_ZEROS: Mapping[str, Any] = {
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "int-or-string": 0,
    "quantity": "0",
    "time": None,
    "micro-time": None,
    "bytes": None,
    "any": None,
    "list": None,
    "map": None,
}
_STRUCTS = {"object", "quantity", "int-or-string", "time", "micro-time"}
_PLANS: dict[int, tuple[Fields, Plan]] = {}


def canonicalise(obj: dict[str, Any], node: Node) -> dict[str, Any]:
    """Brings a type-checked object into the form that is stored, in place, and returns it.

    Raises ValueError for a quantity, time or base64 text that is none (decoding has refused those before).
    """
    plan = node.plan or plan_of(node)
    plan.run(obj)
    return obj


def zero(node: Node) -> Any:
    """What is written for an absent item of this type."""
    return plan_of(node).run({}) if node.kind == "object" else _ZEROS[node.kind]


def plan_of(node: Node) -> Plan:
    """The compiled pass over an object; one per struct, since every field of that type shares its fields."""
    if node.plan is None:
        found = _PLANS.get(id(node.fields)) if node.builtin else None
        node.plan = found[1] if found else Plan(node)
        if not found and node.builtin:
            _PLANS[id(node.fields)] = (node.fields, node.plan)
    plan: Plan = node.plan
    return plan


class Plan:
    """One struct's pass. Compiled when first run, so that recursive types end."""

    __slots__ = ("_absent", "_node", "_operations")

    def __init__(self, node: Node) -> None:
        self._node = node
        self._operations: dict[str, Operation] | None = None
        self._absent: tuple[tuple[str, Callable[[], Any]], ...] = ()

    def run(self, obj: dict[str, Any]) -> dict[str, Any]:
        operations = self._operations or self._compile()
        dropped: list[str] | None = None
        for name, value in obj.items():
            operation = operations.get(name, _DROP)
            if operation is _OMIT_ZERO:
                if value:
                    continue
            elif operation is _OMIT_NULL:
                if value is not None:
                    continue
            elif operation is _KEEP:
                continue
            elif operation is not _DROP:
                changed = operation(value)
                if changed is value:
                    continue
                if changed is not _DROP:
                    obj[name] = changed
                    continue
            if dropped is None:
                dropped = []
            dropped.append(name)
        for name in dropped or ():
            del obj[name]
        for name, make in self._absent:
            if name not in obj:
                obj[name] = make()
        return obj

    def _compile(self) -> dict[str, Operation]:
        node = self._node
        fields = {name: field for name, field in node.fields.items() if (node.definition, name) not in DISABLED}
        self._absent = tuple((name, _maker(field)) for name, field in fields.items() if field.builtin and _written(field))
        self._operations = {name: operation(field) for name, field in fields.items()}
        if node.preserve_unknown or not node.builtin:
            self._operations = _Keeping(self._operations)
        return self._operations


class _Keeping(dict[str, Operation]):
    """Operations of a custom object: what the tree does not know stays (pruning is another pass)."""

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(name, _KEEP)


def _written(node: Node) -> bool:
    """Whether the field is written even when empty."""
    if node.omitzero:
        return False
    by_value = not node.pointer and (node.kind in _STRUCTS or node.go == "runtime.RawExtension")
    return node.always or by_value


def _maker(node: Node) -> Callable[[], Any]:
    """What to write where a field that is always written is absent."""
    if node.kind == "object" and not node.pointer:
        plan = plan_of(node)
        return lambda: plan.run({})
    value = None if node.pointer else _ZEROS[node.kind]
    return lambda: value


def operation(node: Node) -> Operation:
    """The work on one field's value, presence included."""
    if not node.builtin:
        return _KEEP
    if node.kind == "object":
        return _object_operation(node)
    inner = _value_operation(node)
    if inner is None and not _written(node):
        # free JSON keeps what it holds; null is absence for it too
        return _OMIT_NULL if node.pointer or node.kind == "any" else _OMIT_ZERO
    make = _maker(node) if _written(node) else (lambda: _DROP)
    if node.pointer:
        return _with_null(inner, make)
    if node.kind in {"list", "map"}:
        return _with_empty(inner, make)
    return _with_null(inner, make)


def _object_operation(node: Node) -> Operation:
    plan = plan_of(node)
    if node.pointer:
        absent = None if node.always else _DROP
        return lambda value: absent if value is None else plan.run(value)
    if not _written(node):
        return lambda value: plan.run(value) if value else _DROP
    return lambda value: plan.run({}) if value is None else plan.run(value)


def _with_null(inner: Operation | None, make: Callable[[], Any]) -> Operation:
    """Null is absence."""
    if inner is None:
        return lambda value: make() if value is None else value
    return lambda value: make() if value is None else inner(value)


def _with_empty(inner: Operation | None, make: Callable[[], Any]) -> Operation:
    """An empty list or map is a nil one."""
    if inner is None:
        return lambda value: value or make()
    return lambda value: inner(value) if value else make()


def _value_operation(node: Node) -> Operation | None:
    """The work on a value that is there; None where it stays as it is."""
    match node.kind:
        case "quantity":
            return _quantity
        case "time":
            return times.canonical if node.pointer or node.omitzero else _time_by_value
        case "micro-time":
            return times.canonical_micro
        case "bytes":
            return _base64
        case "number":
            return _number
        case "list":
            return _list_operation(node)
        case "map":
            return _map_operation(node)
        case "any" if node.choices:
            return _choice_operation(node)
    return None


def _quantity(value: Any) -> str:
    return quantity.canonical(value if type(value) is str else str(value))


def _time_by_value(value: str) -> str | None:
    return None if value.startswith("0001-01-01T00:00:00") and times.is_zero(value) else times.canonical(value)


def _base64(value: str) -> str:
    return base64.b64encode(base64.b64decode(value)).decode("ascii")


def _number(value: float) -> float:
    """Go writes a whole float without a point."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e21 else value


def _item_operation(node: Node) -> Operation | None:
    """The work on a list item or a map value; None where any value but null stays as it is."""
    if node.kind == "object":
        plan = plan_of(node)
        return lambda value: plan.run({} if value is None else value)
    inner = _value_operation(node)
    empty = _ZEROS[node.kind]
    if inner is None:
        return None
    return lambda value: empty if value is None else inner(value)


def _list_operation(node: Node) -> Operation:
    item = _required(node)
    empty = _ZEROS.get(item.kind)
    if item.kind == "object":
        plan = plan_of(item)

        def structs(value: list[Any]) -> list[Any]:
            for index, found in enumerate(value):
                if found is None:
                    value[index] = plan.run({})
                else:
                    plan.run(found)
            return value

        return structs
    work = _item_operation(item)
    if work is None:
        return lambda value: [empty if found is None else found for found in value] if None in value else value
    return lambda value: [work(found) for found in value]


def _map_operation(node: Node) -> Operation:
    item = _required(node)
    empty = _ZEROS.get(item.kind)
    work = _item_operation(item)

    def plain(value: dict[str, Any]) -> dict[str, Any]:
        if None in value.values():
            for name, found in value.items():
                if found is None:
                    value[name] = empty
        return value

    if work is None:
        return plain

    def each(value: dict[str, Any]) -> dict[str, Any]:
        for name, found in value.items():
            value[name] = work(found)
        return value

    return each


def _choice_operation(node: Node) -> Operation:
    """A schema, or a boolean, a list of schemas, a list of names."""
    plan = plan_of(node.choices["object"])

    def choose(value: Any) -> Any:
        if isinstance(value, dict):
            return plan.run(value)
        if isinstance(value, list) and "list" in node.choices:
            return [plan.run(item) if isinstance(item, dict) else item for item in value]
        return value

    return choose


def _required(node: Node) -> Node:
    if node.items is None:
        raise TypeError(f"{node} has no items")
    return node.items
