"""What field ownership needs to know of a schema node, compiled once per node.

A value is owned whole (`LEAF`: scalars, atomic lists and maps), by field or key (`MAP`), by item key (`KEYED`) or by item value
(`SET`). Values without a schema are owned whole in built-in kinds, by field or key in custom resources (`FREE`).
Source: kube-openapi's `schemaconv`, which makes structured-merge-diff's schemas.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.fields import sets
from setpoint.api.machinery.schema.node import Node

LEAF, MAP, KEYED, SET, FREE = range(5)

#: keys of lists that Go's defaulting knows and the definitions do not
_KEY_DEFAULTS = {"protocol": "TCP"}
_ZEROS: dict[str, Any] = {"string": "", "integer": 0, "boolean": False}


_SCALAR = Node("string")


class NoElement(ValueError):
    """A list item that cannot be told from the others; the message is structured-merge-diff's."""


class Shape:
    """How one field is owned. `node` is what it was compiled from (None for values without a schema)."""

    __slots__ = ("_elements", "_fields", "declared", "item", "keys", "mode", "node")

    def __init__(self, mode: int, node: Node | None = None) -> None:
        self.mode = mode
        self.node = node
        #: names of an object's own fields: the others of a map are items, and owned as such
        self.declared: Mapping[str, Node] = node.fields if node is not None and mode == MAP and node.kind == "object" else {}
        self.item: Shape | None = None
        #: the keys of a keyed list with their defaults (None: none)
        self.keys: tuple[tuple[str, Any], ...] = ()
        self._fields: dict[str, Shape | None] = {}
        self._elements: dict[str, str] = {}

    def field(self, name: str) -> Shape | None:
        """The shape of a field or map value; None for a field that the schema does not have."""
        found = self._fields.get(name)
        if found is None and name not in self._fields:
            found = self._fields[name] = self._make(name)
        return found

    def _remember(self, value: str) -> str:
        """The element of an item whose only key is a text; names recur, so their elements are kept."""
        if len(self._elements) >= _LIMIT:
            self._elements.clear()
        made = self._elements[value] = sets.key({self.keys[0][0]: value})
        return made

    def adopt(self, name: str, shape: Shape) -> None:
        """Give an object a field that its schema takes for granted (the metadata of custom resources)."""
        self._fields[name] = shape
        self.declared = {**self.declared, name: shape.node or _SCALAR}

    def _make(self, name: str) -> Shape | None:
        if self.mode == FREE:
            return UNKNOWN
        child = self.declared.get(name)
        return of(child) if child is not None else self.item

    def element(self, item: Any) -> str:
        """The path element of a list's item. NoElement, with Kubernetes' words, for an item that can have none."""
        if len(self.keys) == 1 and isinstance(item, dict):
            value = item.get(self.keys[0][0])
            if type(value) is str:
                found = self._elements.get(value)
                return found if found is not None else self._remember(value)
        if self.mode == SET:
            return _set_element(item)
        if not isinstance(item, dict):
            kind = "a null element" if item is None else "non-map elements"
            raise NoElement(f"associative list with keys may not have {kind}")
        values = {}
        for name, default in self.keys:
            value = item.get(name, default)
            if value is not None:
                values[name] = value
        if not values:
            names = " ".join(f'"{name}"' for name, _ in self.keys)
            raise NoElement(
                f"associative list with keys has an element that omits all key fields [{names}] "
                "(and doesn't have default values for any key fields)"
            )
        return sets.key(values)


def _set_element(item: Any) -> str:
    if isinstance(item, dict):
        raise NoElement("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise NoElement("not supported: associative list with lists as elements")
    if item is None:
        raise NoElement("associative list without keys has an element that's an explicit null")
    return sets.scalar(item)


#: a value without a schema in a custom resource
UNKNOWN = Shape(FREE)
#: a value owned as one whole
WHOLE = Shape(LEAF)

_SHAPES: dict[int, tuple[Node, Shape]] = {}
_LIMIT = 20_000


def of(node: Node) -> Shape:
    """The shape of a node, made when first asked for."""
    found = _SHAPES.get(id(node))
    if found is not None:
        return found[1]
    if len(_SHAPES) >= _LIMIT:
        _SHAPES.clear()
    shape = Shape(_mode(node), node)
    _SHAPES[id(node)] = (node, shape)
    if shape.mode in (KEYED, SET) and node.items is not None:
        shape.keys = tuple((name, _key_default(node.items, name)) for name in node.list_keys)
        shape.item = of(node.items)
    elif shape.mode == MAP:
        shape.item = of(node.items) if node.items is not None else (UNKNOWN if node.preserve_unknown else None)
    return shape


def _mode(node: Node) -> int:
    if node.kind == "any" or node.choices:
        return LEAF if node.builtin else FREE
    if node.atomic:
        return LEAF
    if node.kind == "list":
        return KEYED if node.list_type == "map" else SET
    if node.kind == "object" and not node.builtin and node.preserve_unknown and not node.fields and node.items is None:
        return FREE
    return MAP


def _key_default(item: Node, name: str) -> Any:
    """What a key that an item leaves out counts as."""
    node = item.fields.get(name)
    if node is None or node.default is not None or not node.builtin:
        return node.default if node is not None else None
    return _ZEROS.get(node.kind) if node.required and not node.pointer else _KEY_DEFAULTS.get(name)
