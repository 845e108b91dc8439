"""One OpenAPI v2 document of several servers': each gives the paths of its groups' versions, with the definitions they mention.

Two servers may give one name to different definitions; then the later one's gets another name.
Source: kube-openapi `pkg/aggregator`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_REFERENCE = "#/definitions/"


def merged(document: dict[str, Any], others: Mapping[tuple[str, str], Mapping[str, Any]]) -> dict[str, Any]:
    """A document with the others' parts; `others` by group and version. Nothing that is given changes."""
    paths, definitions = dict(document.get("paths") or {}), dict(document.get("definitions") or {})
    for (group, version), other in others.items():
        root = f"/apis/{group}/{version}"
        mine = {
            path: what
            for path, what in (other.get("paths") or {}).items()
            if path.startswith(f"{root}/") or path in (root, f"{root}/")
        }
        known = other.get("definitions") or {}
        names = _names({name: known[name] for name in _needed(mine, known)}, definitions)
        for name, new in names.items():
            definitions.setdefault(new, _renamed(known[name], names))
        paths = {path: what for path, what in paths.items() if not path.startswith(f"{root}/")}
        paths |= {path: _renamed(what, names) for path, what in mine.items()}
    return {**document, "paths": paths, "definitions": definitions}


def _needed(paths: Any, known: Mapping[str, Any]) -> set[str]:
    """Every definition that is mentioned, and those that these mention."""
    found: set[str] = set()
    waiting = list(_references(paths))
    while waiting:
        name = waiting.pop()
        if name not in found and name in known:
            found.add(name)
            waiting += _references(known[name])
    return found


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        reference = value.get("$ref")
        if isinstance(reference, str) and reference.startswith(_REFERENCE):
            yield reference.removeprefix(_REFERENCE)
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


def _names(needed: Mapping[str, Any], taken: Mapping[str, Any]) -> dict[str, str]:
    """The names that definitions get among those that are there."""
    names: dict[str, str] = {}
    for name in sorted(needed):
        new, number = name, 2
        while new in taken and taken[new] != needed[name] and not name.startswith("io.k8s.apimachinery."):
            new, number = f"{name}_v{number}", number + 1
        names[name] = new
    return names


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {
            key: f"{_REFERENCE}{names.get(inner.removeprefix(_REFERENCE), inner.removeprefix(_REFERENCE))}"
            if key == "$ref" and isinstance(inner, str) and inner.startswith(_REFERENCE)
            else _renamed(inner, names)
            for key, inner in value.items()
        }
    return [_renamed(inner, names) for inner in value] if isinstance(value, list) else value
