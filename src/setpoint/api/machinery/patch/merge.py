"""JSON merge patch (RFC 7386), with what evanphx/json-patch adds: nulls are dropped inside lists of a patch as well.

`null` removes a key, an object is merged, anything else replaces.
"""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery.patch.json_values import json_type
from setpoint.api.machinery.status import bad_request

Json = dict[str, Any]


def apply(obj: Json, patch: Any) -> Json:
    """The patched object. A patch that is no object is a 400."""
    if patch is None:
        raise bad_request("Invalid JSON Patch")
    if not isinstance(patch, dict):
        raise bad_request(
            f"error decoding patch: json: cannot unmarshal {json_type(patch)} into Go value of type map[string]interface {{}}"
        )
    return _merge(obj, patch)


def _merge(target: Json, patch: Json) -> Json:
    merged = dict(target)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
            continue
        current = merged.get(key)
        if isinstance(current, dict):
            # a list that replaces an object is the one place where nulls survive
            merged[key] = _merge(current, value) if isinstance(value, dict) else value
        else:
            merged[key] = without_nulls(value)
    return merged


def without_nulls(value: Any) -> Any:
    """`value` without members that are null, at any depth; items of lists stay."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def diff(old: Json, new: Json) -> Json:
    """The smallest merge patch that makes `new` of `old`."""
    patch: Json = {key: None for key in old if key not in new}
    for key, value in new.items():
        if key not in old:
            patch[key] = value
        elif isinstance(value, dict) and isinstance(old[key], dict):
            if inner := diff(old[key], value):
                patch[key] = inner
        elif type(value) is not type(old[key]) or value != old[key]:
            patch[key] = value
    return patch
