"""Paths into a schema: `.a['b c'].d`, fields and map keys of the node that they begin at.

Source: Kubernetes' `apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go`, ValidFieldPath.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

_token = re.compile(r"'.*?(?<!\\)'|'.*|[.\[\]]|[^.\[\]]+", re.DOTALL)
_escape = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\"}
_END, _NO_FIELD = "unexpected end of JSON path", "does not refer to a valid field"
_QUOTES = 2


class NoPathError(ValueError):
    """The text is no path, or the schema has nothing there."""


def normalized(path: str, schema: Schema) -> str | None:
    """The path as field errors write it (`a[b c].d`); nothing if the schema has no such field."""
    try:
        return _walk(path, schema, brackets=True)[0].removeprefix(".") or None
    except NoPathError:
        return None


def found_at(path: str, schema: Schema, *, brackets: bool) -> tuple[Schema | None, str]:
    """The node that a path leads to, or why it leads to none; `brackets`: it may have parts in them."""
    try:
        return _walk(path, schema, brackets=brackets)[1], ""
    except NoPathError as error:
        return None, str(error)


def _walk(path: str, schema: Schema, *, brackets: bool) -> tuple[str, Schema | None]:
    out, here = "", schema
    tokens = iter(_token.findall(path))
    for part in tokens:
        if part == ".":
            name = _next(tokens)
        elif part == "[":
            name = _quoted(tokens, brackets=brackets)
        else:
            raise NoPathError(f"expected [ or . but got: {part}")
        step, here = _below(here, name)
        out += step
        if part == "[" and (closing := _next(tokens)) != "]":
            raise NoPathError(f"expected ] but got {closing}")
    return out, here


def _next(tokens: Iterator[str]) -> str:
    token = next(tokens, None)
    if token is None:
        raise NoPathError(_END)
    return token


def _quoted(tokens: Iterator[str], *, brackets: bool) -> str:
    if not brackets:
        raise NoPathError("array notation is not allowed")
    token = _next(tokens)
    if len(token) < _QUOTES or token[0] != "'" or token[-1] != "'":
        raise NoPathError(f"expected single quoted string but got {token}")
    if wrong := [one[0] for one in _escape.finditer(token[1:-1]) if one[1] not in _ESCAPES]:
        raise NoPathError(f"invalid string literal: invalid escape char {wrong[-1]}")
    return _escape.sub(lambda one: _ESCAPES[one[1]], token[1:-1])


def _below(here: Any, name: str) -> tuple[str, Any]:
    """How a step is written, and the node that it leads to."""
    properties, additional = (
        (here.get("properties"), here.get("additionalProperties")) if isinstance(here, Mapping) else (None, None)
    )
    if properties and name in properties:
        return f".{name}", properties[name]
    if properties or additional is None:
        raise NoPathError(_NO_FIELD)
    return f"[{name}]", additional
