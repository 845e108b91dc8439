"""Whether an update left a value of a custom object as it was: what is wrong with it is then let pass.

Source: Kubernetes' `apiserver/pkg/cel/common/equality.go`, CachedDeepEqual.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

Schema = Mapping[str, Any]


def unchanged(new: Any, old: Any, schema: Schema) -> bool:
    """Equality along a schema.

    Items of a list map are compared by their keys. A field that the schema does not know is another each time, be it kept or
    metadata.
    """
    if isinstance(new, list) and isinstance(old, list):
        return _same_items(new, old, schema)
    if isinstance(new, dict) and isinstance(old, dict):
        known, others = schema.get("properties") or {}, schema.get("additionalProperties")
        return len(new) == len(old) and all(
            name in old and isinstance(below := known.get(name, others), Mapping) and unchanged(value, old[name], below)
            for name, value in new.items()
        )
    return type(new) is type(old) and bool(new == old)


def _same_items(new: list[Any], old: list[Any], schema: Schema) -> bool:
    if len(new) != len(old):
        return False
    items = schema.get("items")
    if schema.get("x-kubernetes-list-type") != "map" or not isinstance(items, Mapping):
        option = orjson.OPT_SORT_KEYS
        return new == old and orjson.dumps(new, option=option) == orjson.dumps(old, option=option)
    names = schema.get("x-kubernetes-list-map-keys") or ()
    before = {_key(item, names): item for item in old if isinstance(item, dict)}
    return all(isinstance(item, dict) and unchanged(item, before.get(_key(item, names)), items) for item in new)


def _key(item: Mapping[str, Any], names: Any) -> bytes:
    return orjson.dumps([item.get(name) for name in names])
