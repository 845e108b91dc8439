"""JSON values as Go compares and prints them; patches' rules and messages depend on both."""

from __future__ import annotations

from typing import Any

import orjson

from setpoint.api.machinery.status import go_double

#: what reflect calls the type, and its kind
_TYPES = {str: "string", bool: "bool", int: "int64", float: "float64", dict: "map[string]interface {}", list: "[]interface {}"}
_KINDS = {str: "string", bool: "bool", int: "int64", float: "float64", dict: "map", list: "slice"}
_JSON = {str: "string", bool: "bool", int: "number", float: "number", dict: "object", list: "array", type(None): "null"}


def same(left: Any, right: Any) -> bool:
    """Equality as JSON texts have it: `1`, `1.0` and `true` are three values."""
    if type(left) is not type(right):
        return False
    if isinstance(left, (dict, list)):
        return left == right and orjson.dumps(left, option=orjson.OPT_SORT_KEYS) == orjson.dumps(
            right, option=orjson.OPT_SORT_KEYS
        )
    return bool(left == right)


def go_type(value: Any) -> str:
    return _TYPES.get(type(value), "<nil>")


def go_kind(value: Any) -> str:
    return _KINDS.get(type(value), "invalid")


def json_type(value: Any) -> str:
    """What encoding/json's errors call a value: `cannot unmarshal number into …`."""
    return _JSON[type(value)]


def go_print(value: Any) -> str:
    """`fmt.Sprint` of a decoded JSON value: `map[a:1 b:[x y]]`, keys sorted."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{go_print(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_print, value))}]"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    return go_double(value) if isinstance(value, float) else str(value)


def go_text(value: Any) -> str:
    """`%s` of a decoded JSON value, of which only strings are text: `%!s(int64=5)`."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{go_text(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_text, value))}]"
    return "%!s(<nil>)" if value is None else f"%!s({go_type(value)}={go_print(value)})"
