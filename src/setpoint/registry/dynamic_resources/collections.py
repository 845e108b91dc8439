"""How the group checks lists: not too long, every item, and then that none comes twice.

Source: `pkg/apis/resource/validation`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from setpoint.api.machinery.status import duplicate, too_many
from setpoint.registry.fields import Errors

Check = Callable[[str, Any], Errors]


def each(path: str, items: Sequence[Any], check: Check, limit: int = -1) -> Errors:
    if 0 <= limit < len(items):
        return [too_many(path, len(items), limit)]
    return [error for i, item in enumerate(items) for error in check(f"{path}[{i}]", item)]


def each_once(
    path: str, items: Sequence[Any], check: Check, key: Callable[[Any], Hashable], limit: int = -1, shown: Any = None
) -> Errors:
    """`shown` stands for every key in complaints, where keys cannot be printed."""
    if 0 <= limit < len(items):
        return [too_many(path, len(items), limit)]
    errors = each(path, items, check)
    seen: set[Hashable] = set()
    for i, item in enumerate(items):
        if key(item) in seen:
            errors.append(duplicate(f"{path}[{i}]", key(item) if shown is None else shown))
        seen.add(key(item))
    return errors
