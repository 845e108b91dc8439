"""A write that gives new values to fields which only its own manager has: nothing but the time of that entry changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from setpoint.api.machinery.fields.managed import MAX_UPDATERS, Identity, Json

#: the way to a field in the `fieldsV1` of an entry
Path = tuple[str, ...]


def restamp(entries: Any, who: Identity, time: str, changed: Iterable[Path]) -> bool:
    """Give the entry of `who` a new time, and its place by it; False (and nothing is done) where more than that would change."""
    if not entries or len(entries) > MAX_UPDATERS:
        return False
    mine: Json | None = None
    for entry in entries:
        if entry.get("apiVersion") != who.api_version:
            return False
        if entry.get("manager", "") == who.manager and _identity(entry) == who:
            if mine is not None:
                return False
            mine = entry
    if mine is None:
        return False
    for path in changed:
        for entry in entries:
            if _owns(entry, path) != (entry is mine):
                return False
    mine["time"] = time
    if len(entries) > 1:
        entries.sort(key=_order)
    return True


def _identity(entry: Json) -> Identity:
    operation, subresource = entry.get("operation", ""), entry.get("subresource", "")
    return Identity(entry.get("manager", ""), operation, entry.get("apiVersion", ""), subresource)


def _owns(entry: Json, path: Path) -> bool:
    fields = entry.get("fieldsV1")
    for step in path:
        if not fields or step not in fields:
            return False
        fields = fields[step]
    return True


def _order(entry: Json) -> Sequence[str]:
    """As `managed.encode` has it."""
    who = _identity(entry)
    return who.operation, entry.get("time") or "", who.manager, who.api_version, who.subresource
