"""The order of merged lists: `$setElementOrder`, then the patch's order, then the live list's.

Items that the patch names follow its order, the server's own items keep theirs, and the two sequences are merged by the live
order as far as it knows both sides. Source: Kubernetes' design "preserve order in strategic merge patch".
"""

from __future__ import annotations

from typing import Any


def same_key(left: Any, right: Any) -> bool:
    """Go's `==` of two scalars: types must agree."""
    return type(left) is type(right) and bool(left == right)


def _key(item: Any, key: str) -> Any:
    value = item.get(key) if key and isinstance(item, dict) else item
    return (type(value), value if isinstance(value, (str, int, float, bool, type(None))) else id(value))


def _positions(items: list[Any], key: str) -> dict[Any, int]:
    """The first position of each key value."""
    found: dict[Any, int] = {}
    for position, item in enumerate(items):
        found.setdefault(_key(item, key), position)
    return found


def partition(items: list[Any], order: list[Any], key: str) -> tuple[list[Any], list[Any]]:
    """Items that `order` names, and the others."""
    named = _positions(order, key)
    inside = [item for item in items if _key(item, key) in named]
    return inside, [item for item in items if _key(item, key) not in named]


def in_order(named: list[Any], others: list[Any], order: list[Any], live: list[Any], key: str) -> list[Any]:
    """One list of both, in the best order."""
    positions = _positions(live, key)
    left, right = _sorted(others, positions, key), _sorted(named, _positions(order, key), key)
    merged: list[Any] = []
    i = j = 0
    while i < len(left) and j < len(right):
        mine, theirs = positions.get(_key(left[i], key)), positions.get(_key(right[j], key))
        if mine is not None and theirs is not None and mine < theirs:
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    return [*merged, *left[i:], *right[j:]]


def _sorted(items: list[Any], positions: dict[Any, int], key: str) -> list[Any]:
    """Sorted by position; deletions, which have no place, stand last, and what is unknown moves to the front."""
    deletions = [item for item in items if key and isinstance(item, dict) and item.get("$patch") == "delete"]
    rest = [item for item in items if not any(item is deletion for deletion in deletions)] if deletions else items
    known = [item for item in rest if _key(item, key) in positions]
    unknown = [item for item in rest if _key(item, key) not in positions]
    return [*reversed(unknown), *sorted(known, key=lambda item: positions[_key(item, key)]), *deletions]
