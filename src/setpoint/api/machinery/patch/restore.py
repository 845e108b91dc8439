"""Whether a strategically merged object still fits its Go type, and the answer where it does not.

Kubernetes turns the merged map straight into the typed object; the first value of a wrong type ends that with a 422 on the field
`patch`. Source: apimachinery's `runtime/converter.go` (fromUnstructured).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.patch.json_values import go_kind, go_print, json_type
from setpoint.api.machinery.schema.node import Node
from setpoint.api.machinery.settled import is_shared
from setpoint.api.machinery.status import StatusError, invalid, invalid_object

_SCALARS: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "boolean": (bool,), "number": (int, float)}


def check(merged: dict[str, Any], patch: dict[str, Any], node: Node, settled: Mapping[str, Any]) -> None:
    """Raise the 422 that a merged object of the wrong shape is answered with; what it shares with `settled` fits."""
    changed = {name: value for name, value in merged.items() if not is_shared(value, name, settled)}
    found = complaint(changed, node)
    if found:
        raise invalid_patch(patch, found)


def invalid_patch(patch: dict[str, Any], detail: str) -> StatusError:
    """`"" is invalid: patch: Invalid value: "map[…]": …`, with the patch as Go prints it."""
    return invalid_object("", "", "", [invalid("patch", go_print(patch), detail)])


def complaint(value: Any, node: Node) -> str | None:
    """The first misfit, in the order of the document; null fits everywhere."""
    if value is None or node.kind == "any" or node.choices:
        return None
    match node.kind:
        case "object":
            return _object(value, node)
        case "map":
            return _items(value.values(), node) if isinstance(value, dict) else f"cannot restore map from {go_kind(value)}"
        case "list":
            return _items(value, node) if isinstance(value, list) else f"cannot restore slice from {go_kind(value)}"
        case "int-or-string":
            return _reads_itself(value, "int32") if type(value) not in (int, str) or _too_large(value) else None
        case "time" | "micro-time":
            return _reads_itself(value, "string") if type(value) is not str else None
        case _:
            return _scalar(value, node)


def _object(value: Any, node: Node) -> str | None:
    if not isinstance(value, dict):
        return f"cannot restore struct from: {go_kind(value)}"
    for key, item in value.items():
        child = node.fields.get(key)
        if child is not None and (found := complaint(item, child)):
            return found
    return None


def _items(values: Any, node: Node) -> str | None:
    if node.items is None:
        return None
    return next((found for found in (complaint(value, node.items) for value in values) if found), None)


def _too_large(value: Any) -> bool:
    return type(value) is int and not -(2**31) <= value < 2**31


def _reads_itself(value: Any, wanted: str) -> str | None:
    """The complaint of a type that reads its own JSON, of which nobody says where it stands."""
    if isinstance(value, float) and value.is_integer() and wanted == "int32":
        return None
    shown = f"number {go_print(value)}" if wanted == "int32" and type(value) in (int, float) else json_type(value)
    return f"json: cannot unmarshal {shown} into Go value of type {wanted}"


def _scalar(value: Any, node: Node) -> str | None:
    allowed = _SCALARS.get(node.kind)
    if allowed is None or type(value) in allowed:
        return None
    if node.kind == "integer" and isinstance(value, float) and value.is_integer():
        return None
    wanted = node.go or node.kind
    if isinstance(value, (dict, list, bool)) or node.kind == "boolean" or isinstance(value, str):
        return f"unrecognized type: {wanted}"
    return f"cannot convert {go_kind(value)} to {wanted}"
