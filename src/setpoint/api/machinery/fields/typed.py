"""Whether an applied configuration fits its schema: every complaint in structured-merge-diff's words.

Applying is strict whatever `fieldValidation` says, and its complaints are plain errors: the API server answers 500.
Source: structured-merge-diff `typed/validate.go`.
"""

from __future__ import annotations

import json
from typing import Any

from setpoint.api.machinery.fields import sets
from setpoint.api.machinery.fields.shape import FREE, KEYED, SET, Shape, of
from setpoint.api.machinery.patch.json_values import go_print, go_type
from setpoint.api.machinery.schema.node import Node

_STANDARD = frozenset(("apiVersion", "kind", "metadata"))

Complaints = list[tuple[str, str]]


def complaints(shape: Shape, value: Any, path: str = "") -> Complaints:
    """(path, text) of each misfit."""
    if value is None or shape.mode == FREE or shape.node is None:
        return []
    node = shape.node
    match node.kind:
        case "object" | "map":
            return _map(shape, node, value, path)
        case "list":
            return _list(shape, node, value, path)
        case _:
            return _scalar(node.kind, value, path)


def fits(value: Any, node: Node) -> bool:
    """Whether a custom object, whose metadata is taken as fitting, fits a schema."""
    return not complaints(of(node), {name: found for name, found in value.items() if name not in _STANDARD})


def message(found: Complaints) -> str:
    """One complaint as a line, several as a list."""
    texts = [f"{path}: {text}" if path else text for path, text in found]
    return texts[0] if len(texts) == 1 else "\n  ".join(["errors:", *texts])


def _map(shape: Shape, node: Node, value: Any, path: str) -> Complaints:
    if not isinstance(value, dict):
        return [(path, f"expected map, got &{{{go_print(value)}}}")]
    found: Complaints = []
    unknown = ""
    for name in sorted(value):
        child = _child(shape, node, name)
        if child is not None:
            found += complaints(child, value[name], f"{path}.{name}")
        elif not unknown and not node.preserve_unknown:
            unknown = name
    return [*found, (f"{path}.{unknown}", "field not declared in schema")] if unknown else found


def _child(shape: Shape, node: Node, name: str) -> Shape | None:
    """The shape below, also where the map is owned whole."""
    child = node.fields.get(name) or node.items
    return of(child) if child is not None else shape.field(name)


def _list(shape: Shape, node: Node, value: Any, path: str) -> Complaints:
    if not isinstance(value, list):
        return [(path, f"expected list, got &{{{go_print(value)}}}")]
    item_shape = of(node.items) if node.items is not None else None
    found: Complaints = []
    seen: set[str] = set()
    for position, item in enumerate(value):
        step = f"[{position}]"
        if shape.mode in (KEYED, SET):
            try:
                element = shape.element(item)
            except ValueError as error:
                return [*found, (path, f"element {position}: {error}")]
            step = sets.text(element)
            if element in seen:
                found.append((path, f"duplicate entries for key {step}"))
            seen.add(element)
        if item_shape is not None:
            found += complaints(item_shape, item, path + step)
    return found


def _scalar(kind: str, value: Any, path: str) -> Complaints:
    match kind:
        case "integer" | "number":
            fits = isinstance(value, (int, float)) and not isinstance(value, bool)
            text = f"expected numeric (int or float), got {go_type(value)}"
        case "boolean":
            fits, text = isinstance(value, bool), f"expected boolean, got &{{{go_print(value)}}}"
        case "string" | "bytes":
            fits = isinstance(value, str)
            text = f"expected string, got &value.valueUnstructured{{Value:{_go_syntax(value)}}}"
        case _:
            fits, text = True, ""
    return [] if fits else [(path, text)]


def _go_syntax(value: Any) -> str:
    """`%#v` of a decoded JSON value."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(name, ensure_ascii=False)}:{_go_syntax(value[name])}" for name in sorted(value))
        return f"map[string]interface {{}}{{{inner}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_go_syntax, value))}}}"
    return go_print(value)
