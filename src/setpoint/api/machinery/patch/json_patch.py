"""JSON patch (RFC 6902) as the API server does it, with evanphx/json-patch's leniencies.

Negative indices count from the end; replacing a key that is not there adds it; copying one adds a null; the text before the first
slash of a path is ignored; a missing value is a null. Every failure of an operation is the same 422, which names no operation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from setpoint.api.machinery.patch.json_values import json_type, same
from setpoint.api.machinery.status import StatusError, bad_request

#: operations in one patch
MAX_OPERATIONS = 10_000
#: bytes that all copies of one patch may add
MAX_COPIED = 3 * 1024 * 1024

Container = dict[str, Any] | list[Any]
_index = re.compile(r"[+-]?[0-9]{1,18}").fullmatch


def refused() -> StatusError:
    """What a patch that does not apply is answered with; the reason stays in the server."""
    return StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {})


def apply(obj: dict[str, Any], operations: Any, *, validation: str = "Warn") -> Any:
    """The patched document, which may be a list if the patch replaces its root.

    `validation` is the request's fieldValidation: with `Ignore` the shape of operations is not looked at before they are applied.
    """
    if operations is None:
        return obj
    check(operations, strict=validation != "Ignore")
    document = _Document(obj)
    for operation in operations:
        document.run(operation or {})
    return document.root


def stepwise(obj: dict[str, Any], operations: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """The document before each operation, with that operation, and in the end the patched one, with None.

    `operations` were checked. What a step raises is about the operation that was given last.
    """
    document = _Document(obj)
    for operation in operations:
        yield document.root, operation
        document.run(operation or {})
    yield document.root, None


def check(operations: Any, *, strict: bool) -> None:
    """Raise 400 for what is no list of operations, 413 for too many."""
    into = "[]handlers.jsonPatchOp" if strict else "jsonpatch.Patch"
    if not isinstance(operations, list):
        raise _undecodable(json_type(operations), f"Go value of type {into}", strict=strict)
    for operation in operations:
        if isinstance(operation, dict):
            if strict:
                _check_texts(operation)
        elif operation is not None:
            into = "handlers.jsonPatchOp" if strict else "jsonpatch.Operation"
            raise _undecodable(json_type(operation), f"Go value of type {into}", strict=strict)
    if len(operations) > MAX_OPERATIONS:
        raise StatusError(
            413,
            "RequestEntityTooLarge",
            "Request entity too large: The allowed maximum operations in a JSON patch is "
            f"{MAX_OPERATIONS}, got {len(operations)}",
        )


def _check_texts(operation: dict[str, Any]) -> None:
    for key in ("op", "path", "from"):
        if not isinstance(operation.get(key), (str, type(None))):
            raise _undecodable(json_type(operation[key]), f"Go struct field jsonPatchOp.{key} of type string", strict=True)


def _undecodable(found: str, into: str, *, strict: bool) -> StatusError:
    return bad_request(f"{'error decoding patch: ' if strict else ''}json: cannot unmarshal {found} into {into}")


class _Document:
    """The document while it is patched. Containers of the original are copied when first written to."""

    def __init__(self, root: Container) -> None:
        self.root = root
        self.copied = 0
        self._own: dict[int, Container] = {}

    def run(self, operation: dict[str, Any]) -> None:
        name = operation.get("op")
        action = _ACTIONS.get(name) if isinstance(name, str) else None
        if action is None:
            raise refused()
        action(self, operation)

    def parent(self, path: str, *, write: bool) -> tuple[Container, str]:
        """The container that a path ends in, and the last key."""
        parts = path.split("/")
        if len(parts) < 2:
            raise refused()
        if write:
            self.root = self._owned(self.root)
        container = self.root
        for part in parts[1:-1]:
            key = _position(container, _decoded(part))
            below = _get(container, key)
            if not isinstance(below, (dict, list)):
                raise refused()
            if write:
                below = self._owned(below)
                container[key] = below  # type: ignore[index]  # a key of its kind, by _position
            container = below
        return container, _decoded(parts[-1])

    def _owned(self, container: Container) -> Container:
        if id(container) in self._own:
            return container
        copy = container.copy()
        self._own[id(copy)] = copy
        return copy

    def read(self, path: str) -> Any:
        container, key = self.parent(path, write=False)
        return _get(container, _position(container, key))

    def insert(self, path: str, value: Any) -> None:
        container, key = self.parent(path, write=True)
        if isinstance(container, dict):
            container[key] = value
        elif key == "-":
            container.append(value)
        else:
            container.insert(_within(key, len(container) + 1), value)

    def take(self, path: str) -> Any:
        container, key = self.parent(path, write=True)
        if isinstance(container, dict):
            if key not in container:
                raise refused()
            return container.pop(key)
        return container.pop(_within(key, len(container)))

    # --- the operations ---

    def add(self, operation: dict[str, Any]) -> None:
        self.insert(_text(operation, "path"), operation.get("value"))

    def remove(self, operation: dict[str, Any]) -> None:
        self.take(_text(operation, "path"))

    def replace(self, operation: dict[str, Any]) -> None:
        path, value = _text(operation, "path"), operation.get("value")
        if path:
            container, key = self.parent(path, write=True)
            container[_position(container, key)] = value  # type: ignore[index]  # a key of its kind
        elif isinstance(value, (dict, list)):
            self.root = value
        else:
            raise refused()

    def move(self, operation: dict[str, Any]) -> None:
        value = self.take(_text(operation, "from"))
        self.insert(_text(operation, "path"), value)

    def copy(self, operation: dict[str, Any]) -> None:
        value = self.read(_text(operation, "from"))
        if value is not None:
            text = orjson.dumps(value)
            self.copied += len(text)
            if self.copied > MAX_COPIED:
                raise refused()
            value = orjson.loads(text)
        self.insert(_text(operation, "path"), value)

    def test(self, operation: dict[str, Any]) -> None:
        path = _text(operation, "path")
        found = self.read(path) if path else self.root
        if not same(found, operation.get("value")):
            raise refused()


_ACTIONS = {
    "add": _Document.add,
    "remove": _Document.remove,
    "replace": _Document.replace,
    "move": _Document.move,
    "copy": _Document.copy,
    "test": _Document.test,
}


def _text(operation: dict[str, Any], key: str) -> str:
    value = operation.get(key)
    if not isinstance(value, str):
        raise refused()
    return value


def _decoded(part: str) -> str:
    """RFC 6901: `~1` is a slash, `~0` a tilde."""
    return part if "~" not in part else re.sub("~[01]", lambda found: "/" if found[0] == "~1" else "~", part)


def _within(key: str, length: int) -> int:
    """A list position below `length`, counted from the end where negative."""
    if not _index(key):
        raise refused()
    position = int(key)
    if not -length <= position < length:
        raise refused()
    return position + length if position < 0 else position


def _position(container: Container, key: str) -> str | int:
    return key if isinstance(container, dict) else _within(key, len(container))


def _get(container: Container, key: str | int) -> Any:
    """What stands at a key; a key that a map lacks reads as null."""
    return container.get(key) if isinstance(container, dict) else container[key]  # type: ignore[arg-type,index]  # by _position
