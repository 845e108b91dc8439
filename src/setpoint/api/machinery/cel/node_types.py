"""The types that expressions see of built-in kinds. Source: apiserver `pkg/cel/openapi`, `pkg/cel/common/schemas.go`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from setpoint.api.machinery.cel.schema_types import escape
from setpoint.api.machinery.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    ObjectScope,
    Type,
    list_of,
    map_of,
    object_type,
)
from setpoint.api.machinery.schema.node import Node

_SCALARS = {
    "string": STRING, "integer": INT, "number": DOUBLE, "boolean": BOOL, "time": TIMESTAMP, "micro-time": TIMESTAMP,
    "bytes": BYTES, "quantity": STRING,
}  # fmt: skip
_known: dict[int, tuple[Node, Type]] = {}
_MOST = 10_000


def type_of_node(node: Node) -> Type:
    """The type of a field; the same for the same node. Fields of objects are looked at when they are asked for."""
    if node.kind == "list":
        return list_of(type_of_node(node.items) if node.items is not None else DYN)
    if node.kind == "map":
        return map_of(STRING, type_of_node(node.items) if node.items is not None else DYN)
    if node.kind != "object" or node.choices:
        return _SCALARS.get(node.kind, DYN)
    found = _known.get(id(node))
    if found is None:
        if len(_known) >= _MOST:
            _known.clear()
        name = node.definition.rpartition(".")[2] or "object"
        found = _known[id(node)] = (node, object_type(ObjectScope(name, _Fields(node))))
    return found[1]


class _Fields(Mapping[str, Type]):
    """The fields of an object by their names in expressions."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._names: dict[str, str] | None = None

    def _written(self) -> Mapping[str, str]:
        if self._names is None:
            self._names = {escaped: name for name in self._node.fields if (escaped := escape(name)) is not None}
        return self._names

    def __getitem__(self, name: str) -> Type:
        return type_of_node(self._node.fields[self._written()[name]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._written())

    def __len__(self) -> int:
        return len(self._written())
