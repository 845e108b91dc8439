"""What a mutation makes of an object: the operations of a JSON patch, or an apply configuration merged into it.

Source: apiserver `pkg/admission/plugin/policy/mutating/patch` (json_patch.go, smd.go), `pkg/cel/mutation/dynamic/objects.go`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from setpoint.api.machinery.cel.values import (
    Constructed,
    Duration,
    Optional,
    Timestamp,
    seconds_text,
    timestamp_text,
    type_name,
)
from setpoint.api.machinery.fields import shape as shapes
from setpoint.api.machinery.fields import typed
from setpoint.api.machinery.fields.merging import merge
from setpoint.api.machinery.patch import json_patch
from setpoint.api.machinery.status import StatusError
from setpoint.registry.strategy import Object

if TYPE_CHECKING:
    from setpoint.api.machinery.schema.node import Node

_OPERATIONS = ("add", "remove", "replace", "move", "copy", "test")


class Unpatched(Exception):
    """A mutation that cannot be done; says why."""


def json_patched(obj: Object, operations: Any) -> Any:
    """The object after a list of `JSONPatch`; the object itself where a test does not hold. Raises Unpatched."""
    if not isinstance(operations, list):
        raise Unpatched(f"type mismatch: JSONPatchType.expression should evaluate to array, got {type_name(operations)}")
    document: Any = obj
    for operation in map(_operation, operations):
        try:
            document = json_patch.apply(document, [operation], validation="Ignore")
        except StatusError:
            if operation["op"] == "test":
                return obj
            raise Unpatched(f"JSON Patch: {_complaint(operation)}") from None
    return document


def _operation(given: Any) -> Object:
    if not isinstance(given, Constructed):
        raise Unpatched(f"type mismatch: JSONPatchType.expression list contains {type_name(given)}")
    operation: Object = {"op": given.get("op", ""), "path": given.get("path", "")}
    if given.get("from"):
        operation["from"] = given["from"]
    if "value" in given:
        value = given["value"]
        if isinstance(value, Constructed):
            _check_names(value)
        operation["value"] = _json(value)
    return operation


def _complaint(operation: Object) -> str:
    """Why an operation does not apply, in the words of the library that Kubernetes uses (evanphx/json-patch)."""
    name, path = operation["op"], operation["path"]
    if name not in _OPERATIONS:
        return f"Unexpected kind: {name}"
    if name == "remove":
        return f"error in remove for path: '{path}': Unable to remove nonexistent key: {path.rpartition('/')[2]}: missing value"
    if name in ("move", "copy"):
        return f"{name} operation does not apply: doc is missing from path: {operation.get('from', '')}: missing value"
    shown = f'"{path}"' if name == "add" else path
    return f"{name} operation does not apply: doc is missing path: {shown}: missing value"


def applied(obj: Object, configuration: Any, node: Node | None) -> Any:
    """The object with an apply configuration merged into it. Raises Unpatched."""
    if not isinstance(configuration, Constructed):
        raise Unpatched(f"unsupported return type from ApplyConfiguration expression: {type_name(configuration)}")
    _check_names(configuration)
    shape = shapes.of(node) if node is not None else shapes.UNKNOWN
    patch = {**_json(configuration), "apiVersion": obj["apiVersion"], "kind": obj["kind"]}
    if found := typed.complaints(shape, patch):
        why = f"failed to convert patch object to typed object: {typed.message(found)}"
        raise Unpatched(f"error applying patch: {why}")
    if atomic := list(_atomics(node, patch, "")):
        why = f"invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {', '.join(atomic)}"
        raise Unpatched(f"error applying patch: {why}")
    return merge(shape, obj, patch)


def _atomics(node: Node | None, value: Any, path: str) -> Iterator[str]:
    """Where a configuration would replace a list, a map or an object as a whole, and within those once more.

    Items are told by their place in the configuration.
    """
    if node is None or not isinstance(value, dict | list):
        return
    if shapes.of(node).mode in (shapes.LEAF, shapes.FREE) and (isinstance(value, list) or node.builtin or node.atomic):
        yield path
    if isinstance(value, dict):
        for name, child in value.items():
            yield from _atomics(node.fields.get(name), child, f"{path}.{name}")
    elif node.kind == "list":
        for index, item in enumerate(value):
            yield from _atomics(node.items, item, f"{path}[{index}]")


def _check_names(value: Constructed) -> None:
    """The type of an object is called by where it stands: `Object.spec` is only for the field `spec`. Raises Unpatched."""
    if found := list(_misnamed(value, value.name)):
        raise Unpatched("type mismatch: " + "\n".join(found))


def _misnamed(value: Constructed, path: str) -> Iterator[str]:
    if value.name != path:
        where = "which matches field name path from root Object type"
        yield f'unexpected type name "{value.name}", expected "{path}", {where}'
    for name, child in value.items():
        for one in _constructed(child):
            yield from _misnamed(one, f"{path}.{name}")


def _constructed(value: Any) -> Iterator[Constructed]:
    if isinstance(value, Constructed):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _constructed(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _constructed(item)


def _json(value: Any) -> Any:
    """A value of expressions as JSON. Fields whose optional value is absent are left out."""
    if isinstance(value, dict):
        return {str(name): _json(one) for name, one in value.items() if not (isinstance(one, Optional) and not one.present)}
    if isinstance(value, list):
        return [_json(item) for item in value if not (isinstance(item, Optional) and not item.present)]
    if isinstance(value, Optional):
        return _json(value.value) if value.present else None
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Timestamp):
        return timestamp_text(value)
    if isinstance(value, Duration):
        return seconds_text(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise Unpatched(f"JSONPath valueExpression evaluated to a type that could not marshal to JSON: {type_name(value)}")
