"""The `fieldPath` of a rule: `.a['b c'].d`, fields and map keys of the schema that the rule stands at.

Source: Kubernetes' `apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go`, ValidFieldPath.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_part = re.compile(r"\.([^.\[\]']+)|\['((?:\\.|[^'\\])*)'\]")
_escape = re.compile(r"\\(.)")
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\"}


def normalized(path: str, schema: Mapping[str, Any]) -> str | None:
    """The path as field errors write it (`a[b c].d`); nothing if the schema has no such field."""
    out, offset = "", 0
    here: Any = schema
    while offset < len(path):
        found = _part.match(path, offset)
        if found is None or not isinstance(here, Mapping):
            return None
        name = found[1] if found[1] is not None else _escape.sub(lambda one: _ESCAPES.get(one[1], one[1]), found[2])
        properties, additional = here.get("properties"), here.get("additionalProperties")
        if properties:
            if name not in properties:
                return None
            out, here = f"{out}.{name}", properties[name]
        elif additional:
            out, here = f"{out}[{name}]", additional
        else:
            return None
        offset = found.end()
    return out.removeprefix(".") or None
