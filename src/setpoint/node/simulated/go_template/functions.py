"""The functions that every template has, and what they go by: truth and text as Go sees them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Functions = Mapping[str, Callable[..., Any]]


def is_true(value: Any) -> bool:
    """As Go's templates: zero, empty and nothing are false."""
    return bool(value)


def to_text(value: Any) -> str:
    """As Go prints it; nothing is an empty text."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _or(*values: Any) -> Any:
    return next((value for value in values if is_true(value)), values[-1])


def _and(*values: Any) -> Any:
    return next((value for value in values if not is_true(value)), values[-1])


def _index(value: Any, *keys: Any) -> Any:
    for key in keys:
        if value is None:
            return None
        value = value.get(key) if isinstance(value, Mapping) else value[key] if key < len(value) else None
    return value


def _printf(form: str, *values: Any) -> str:
    return re.sub(r"%[vsdq]", "%s", form) % tuple(map(to_text, values))


BUILTINS: Functions = {
    "or": _or,
    "and": _and,
    "not": lambda value: not is_true(value),
    "eq": lambda first, *others: first in others,
    "ne": lambda first, second: first != second,
    "lt": lambda first, second: first < second,
    "le": lambda first, second: first <= second,
    "gt": lambda first, second: first > second,
    "ge": lambda first, second: first >= second,
    "index": _index,
    "len": lambda value: len(value or ()),
    "print": lambda *values: "".join(map(to_text, values)),
    "printf": _printf,
    "dict": lambda *pairs: dict(zip(pairs[::2], pairs[1::2], strict=True)),
    "add1": lambda value: int(value) + 1,
    "add": lambda *values: sum(map(int, values)),
    "sub": lambda first, second: int(first) - int(second),
    "default": lambda default, value=None: value if is_true(value) else default,
}
