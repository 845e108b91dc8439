"""The entries of `metadata.managedFields`: decoding, encoding, their order, and the limit on updaters.

Source: apimachinery `managedfields/internal/managedfields.go`, `capmanagers.go`; apiserver `fieldmanager/equality.go`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import Struct

from setpoint.api.machinery.fields import sets
from setpoint.api.machinery.fields.sets import Set

Json = dict[str, Any]
#: entries of updaters that an object keeps; older ones are joined
MAX_UPDATERS = 10
ANCIENT = "ancient-changes"


class Identity(NamedTuple):
    """Who: one entry per identity. An applier is the same whatever version it applies in."""

    manager: str
    operation: str
    api_version: str = ""
    subresource: str = ""


class Owner(Struct):
    """What one manager owns, in which version its paths are, and since when (None: never written down)."""

    fields: Set
    api_version: str
    time: str | None

    def keeping(self, fields: Set) -> Owner:
        return self if fields is self.fields else Owner(fields, self.api_version, self.time)


Managed = dict[Identity, Owner]


class UnreadableFields(ValueError):
    """Entries that a client sent and that mean nothing."""


def identity(manager: str, operation: str, api_version: str, subresource: str) -> Identity:
    return Identity(manager, operation, "" if operation == "Apply" else api_version, subresource)


def decode(entries: list[Json] | None, *, trusted: bool = True) -> Managed:
    """Owners by identity. What a client sent is not `trusted`: its sets are checked, and UnreadableFields says no."""
    managed: Managed = {}
    for entry in entries or ():
        operation, version = entry.get("operation"), entry.get("apiVersion")
        if operation not in ("Apply", "Update") or not version or entry.get("fieldsType") != "FieldsV1":
            raise UnreadableFields("operation, apiVersion or fieldsType")
        tree = entry.get("fieldsV1")
        if not trusted:
            try:
                tree = sets.parse(tree)
            except ValueError as error:
                raise UnreadableFields(str(error)) from error
        who = identity(entry.get("manager") or "", operation, version, entry.get("subresource") or "")
        managed[who] = Owner(tree or {}, version, entry.get("time"))
    return managed


def is_reset(entries: Any) -> bool:
    """Whether a write asks for all entries to go: an empty list, or one empty entry."""
    return isinstance(entries, list) and (not entries or (len(entries) == 1 and not any((entries[0] or {}).values())))


def encode(managed: Managed) -> list[Json]:
    """The entries in Kubernetes' order: appliers before updaters, oldest first."""
    return [_entry(who, owner) for who, owner in sorted(managed.items(), key=_order)]


def _order(item: tuple[Identity, Owner]) -> tuple[str, str, str, str, str]:
    who, owner = item
    return who.operation, owner.time or "", who.manager, owner.api_version, who.subresource


def _entry(who: Identity, owner: Owner) -> Json:
    entry: Json = {}
    if who.manager:
        entry["manager"] = who.manager
    entry["operation"] = who.operation
    entry["apiVersion"] = owner.api_version
    if owner.time:
        entry["time"] = owner.time
    entry["fieldsType"] = "FieldsV1"
    entry["fieldsV1"] = owner.fields
    if who.subresource:
        entry["subresource"] = who.subresource
    return entry


def cap(managed: Managed) -> None:
    """Join the oldest updaters, per version, until no more than MAX_UPDATERS are left."""
    updaters = sorted((who for who in managed if who.operation == "Update"), key=lambda who: (managed[who].time or "", who))
    excess = len(updaters) - MAX_UPDATERS
    first: dict[str, Identity] = {}
    for who in updaters if excess > 0 else ():
        if excess <= 0:
            return
        owner = managed[who]
        if owner.api_version not in first:
            first[owner.api_version] = who
            continue
        bucket = Identity(ANCIENT, "Update", owner.api_version)
        if bucket not in managed:
            managed[bucket] = managed.pop(first[owner.api_version])
        managed[bucket] = Owner(sets.union(owner.fields, managed[bucket].fields), owner.api_version, owner.time)
        if who != bucket:
            del managed[who]
        excess -= 1


def keep_times(new: Json, old: Json) -> bool:
    """Whether a write changes nothing but the times of entries; if so `new` gets the old entries back.

    Only `metadata.managedFields` of `new` may be changed. `metadata.resourceVersion` must be equal or absent in both.
    """
    ours, theirs = new["metadata"].get("managedFields"), old["metadata"].get("managedFields")
    if ours is not theirs:
        if len(ours or ()) != len(theirs or ()):
            return False
        for mine, other in zip(ours or (), theirs or (), strict=True):
            if mine is not other and {**mine, "time": None} != {**other, "time": None}:
                return False
    for name, value in new.items():
        if name != "metadata" and (name not in old or old[name] != value):
            return False
    if len(new) != len(old):
        return False
    if {**new["metadata"], "managedFields": None} != {**old["metadata"], "managedFields": None}:
        return False
    if theirs is not None:
        new["metadata"]["managedFields"] = theirs
    return True
