"""Complaints about names that stand twice in one object of a JSON text, where a reader would silently take the last."""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery import decode, gojson

#: the members of a JSON patch's operation
_OPERATION = frozenset(("op", "path", "from", "value"))


def of_body(text: bytes) -> list[str]:
    """Complaints about names that stand twice in one object of a JSON text: `duplicate field "data.k"`."""
    if decode.fast(text) is not None:  # which it is not where a name may stand twice
        return []
    try:
        value = gojson.parse(text)
    except gojson.SyntaxComplaint:
        return []
    found: list[str] = []
    _walk(value, "", found)
    return found


def of_patch(text: bytes) -> list[str]:
    """Complaints about the text of a merge patch, or about the operations of a JSON patch."""
    if not text.lstrip().startswith(b"["):
        return of_body(text)
    try:
        operations = gojson.parse(text)
    except gojson.SyntaxComplaint:
        return []
    found: list[str] = []
    for index, operation in enumerate(operations):
        seen: set[str] = set()
        for name, _ in operation if isinstance(operation, gojson.Members) else ():
            word = "duplicate" if name in seen else "unknown" if name not in _OPERATION else ""
            if word:
                found.append(f'json patch {word} field "[{index}].{name}"')
            seen.add(name)
    return found


def _walk(value: Any, path: str, found: list[str]) -> None:
    if isinstance(value, gojson.Members):
        seen: set[str] = set()
        for name, inner in value:
            here = f"{path}.{name}" if path else name
            if name in seen:
                found.append(f'duplicate field "{here}"')
            seen.add(name)
            _walk(inner, here, found)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _walk(inner, f"{path}[{index}]", found)
