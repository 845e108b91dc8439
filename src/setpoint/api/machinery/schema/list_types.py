"""Lists of custom resources that are sets or maps: no item stands twice. Source: apiextensions-apiserver `schema/listtype`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from setpoint.api.machinery.status import FieldError, duplicate, invalid

Schema = Mapping[str, Any]


def repeated(value: Any, schema: Schema | None, path: str = "") -> list[FieldError]:
    """Items that stand twice in a list that is a set or a map."""
    if schema is None:
        return []
    errors: list[FieldError] = []
    if type(value) is dict:
        known, others = schema.get("properties") or {}, schema.get("additionalProperties")
        for name, found in value.items():
            below = known.get(name, others)
            if type(found) in (dict, list) and isinstance(below, Mapping):
                place = f"{path}[{name}]" if name not in known else f"{path}.{name}" if path else name
                errors += repeated(found, below, place)
    elif type(value) is list:
        errors += _repeated_items(value, schema, path)
        items = schema.get("items")
        for index, found in enumerate(value):
            if type(found) in (dict, list) and isinstance(items, Mapping):
                errors += repeated(found, items, f"{path}[{index}]")
    return errors


def _repeated_items(value: list[Any], schema: Schema, path: str) -> list[FieldError]:
    kind = schema.get("x-kubernetes-list-type")
    if kind == "set":
        return [duplicate(f"{path}[{index}]", value[index]) for index in repeated_at(value)]
    if kind != "map":
        return []
    for index, item in enumerate(value):
        if item is not None and type(item) is not dict:
            return [invalid(f"{path}[{index}]", item, "must be an object for an array of list-type map")]
    names = schema.get("x-kubernetes-list-map-keys") or ()
    keys = [{name: item[name] for name in names if name in (item or ())} for item in value]
    return [duplicate(f"{path}[{index}]", keys[index]) for index in repeated_at(keys)]


def repeated_at(items: Sequence[Any]) -> Iterator[int]:
    """Where a value stands for the second time; a third is not told."""
    seen: dict[bytes, int] = {}
    for index, item in enumerate(items):
        mark = orjson.dumps(item, option=orjson.OPT_SORT_KEYS)
        seen[mark] = seen.get(mark, 0) + 1
        if seen[mark] == 2:
            yield index
