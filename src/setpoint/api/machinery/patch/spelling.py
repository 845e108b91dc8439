"""The text of a patched document, which the complaint about it quotes.

Kubernetes patches the JSON of a Go struct. What a patch goes through becomes a Go map, whose names are sorted when it is written;
what it leaves alone stands as the struct wrote it, and what a JSON patch puts in as its sender wrote it.
Source: evanphx/json-patch (lazyNode); apiserver `endpoints/handlers/patch.go` (jsonPatcher).
"""

from __future__ import annotations

from typing import Any

import orjson

from setpoint.api.machinery import protobuf
from setpoint.api.machinery.schema.node import Node


def document(patched: Any, current: Any, node: Node | None, *, raw: bool) -> str:
    """The JSON of what a patch made of `current`, with which it shares what was left alone. `raw`: of a JSON patch."""
    struct = node if node is not None and node.builtin else None  # a custom resource is a map in Go, all through
    text = orjson.dumps(_touched(patched, current, struct, raw=raw)).decode()
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _touched(value: Any, before: Any, node: Node | None, *, raw: bool) -> Any:
    if isinstance(value, dict):
        if not isinstance(before, dict):
            return value if raw else _sorted(value)
        return {name: _below(value[name], before.get(name), _child(node, name), raw=raw) for name in sorted(value)}
    if isinstance(value, list):
        items = before if isinstance(before, list) else []
        known = {id(item): item for item in items}
        return [_below(item, known.get(id(item)), node.items if node else None, raw=raw) for item in value]
    return value


def _below(value: Any, before: Any, node: Node | None, *, raw: bool) -> Any:
    return written(value, node) if value is before else _touched(value, before, node, raw=raw)


def _child(node: Node | None, name: str) -> Node | None:
    return node.child(name) if node is not None else None


def written(value: Any, node: Node | None) -> Any:
    """A value with its names in the order in which a Go struct writes them; those of maps are sorted."""
    if isinstance(value, dict):
        if node is not None and node.kind == "any":
            return value
        places = {name: place for place, name in enumerate(protobuf.order(node.definition))} if node is not None else {}
        names = sorted(value, key=lambda name: (places.get(name, len(places)), name))
        return {name: written(value[name], _child(node, name)) for name in names}
    if isinstance(value, list):
        return [written(item, node.items if node is not None else None) for item in value]
    return value


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
