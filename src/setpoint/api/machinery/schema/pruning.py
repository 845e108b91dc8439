"""Pruning and defaulting of custom resources along the structural schema of their version.

Both walk the schema as it stands in the definition. Source: apiextensions-apiserver `schema/pruning` and `schema/defaulting`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

Schema = Mapping[str, Any]

#: what every embedded resource has, whatever its schema says
META = frozenset(("apiVersion", "kind", "metadata"))
_PRESERVE, _EMBEDDED = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"


def prune(obj: dict[str, Any], schema: Schema) -> list[str]:
    """Drop what the schema of a resource does not know, in place; the paths of what was dropped, sorted."""
    dropped: list[str] = []
    if schema.get(_PRESERVE):
        _skip(obj, schema, "", dropped, embedded=True)
    else:
        _prune_object(obj, schema, "", dropped, embedded=True)
    return sorted(dropped)


def _prune(value: Any, schema: Schema | None, path: str, dropped: list[str]) -> None:
    if type(value) is dict:
        if schema is None:
            dropped += [_at(path, name) for name in value]
            value.clear()
        elif schema.get(_PRESERVE):
            _skip(value, schema, path, dropped, embedded=bool(schema.get(_EMBEDDED)))
        else:
            _prune_object(value, schema, path, dropped, embedded=bool(schema.get(_EMBEDDED)))
    elif type(value) is list:
        if schema is not None and schema.get(_PRESERVE):
            _skip(value, schema, path, dropped, embedded=False)
            return
        items = schema.get("items") if schema is not None else None
        for index, found in enumerate(value):
            if type(found) in (dict, list):
                _prune(found, items, f"{path}[{index}]", dropped)


def _prune_object(value: dict[str, Any], schema: Schema, path: str, dropped: list[str], *, embedded: bool) -> None:
    known, others = schema.get("properties") or {}, schema.get("additionalProperties")
    gone = []
    for name, found in value.items():
        if embedded and name in META:
            continue
        below = known.get(name)
        if below is None and others is None:
            gone.append(name)
        elif type(found) in (dict, list):
            _prune(found, _schema_of(below if below is not None else others), _at(path, name), dropped)
    for name in gone:
        del value[name]
        dropped.append(_at(path, name))


def _skip(value: Any, schema: Schema, path: str, dropped: list[str], *, embedded: bool) -> None:
    """Where unknown fields are kept, what is known below is pruned none the less."""
    if type(value) is dict:
        known, others = schema.get("properties") or {}, schema.get("additionalProperties")
        for name, found in value.items():
            if embedded and name in META:
                continue
            below = known.get(name)
            if below is not None or others is not None:
                _prune(found, _schema_of(below if below is not None else others), _at(path, name), dropped)
    elif type(value) is list and isinstance(items := schema.get("items"), Mapping):
        for index, found in enumerate(value):
            _skip(found, items, f"{path}[{index}]", dropped, embedded=bool(items.get(_EMBEDDED)))


def _schema_of(found: Any) -> Schema | None:
    return found if isinstance(found, Mapping) else None


def _at(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def default(value: Any, schema: Schema | None) -> None:
    """Set defaults, in place. A null where the schema allows none counts as absent, and goes where there is no default."""
    if schema is None:
        return
    if type(value) is dict:
        _default_object(value, schema)
    elif type(value) is list and isinstance(items := schema.get("items"), Mapping):
        for index, found in enumerate(value):
            if found is None and not items.get("nullable") and "default" in items:
                value[index] = _copy(items["default"])
            if type(value[index]) in (dict, list):
                default(value[index], items)


def _default_object(value: dict[str, Any], schema: Schema) -> None:
    known, others = schema.get("properties") or {}, _schema_of(schema.get("additionalProperties"))
    for name in [name for name, found in value.items() if found is None]:
        below = known.get(name, others)
        if below is not None and not below.get("nullable"):
            if name in known or "default" not in below:
                del value[name]
            else:
                value[name] = _copy(below["default"])
    for name, below in known.items():
        if name not in value and below.get("default") is not None:
            value[name] = _copy(below["default"])
    for name, found in value.items():
        if type(found) in (dict, list):
            default(found, known.get(name, others))


def _copy(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value)) if isinstance(value, (dict, list)) else value
