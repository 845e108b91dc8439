"""Ownership after a create, put, patch or status write: whoever changed a field owns it.

The writer takes what it added or changed, everybody else loses that and what was removed. An object without entries is not
tracked until it is applied to. Source: apimachinery `managedfields/internal` (fieldmanager.go and what it chains) and
structured-merge-diff `merge/update.go`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import orjson
from msgspec import Struct

from setpoint.api.machinery.fields import comparing, forms, merging, sets, shape
from setpoint.api.machinery.fields import managed as entries
from setpoint.api.machinery.fields.comparing import Comparison, Unfit, compare, remembered
from setpoint.api.machinery.fields.managed import Identity, Managed, Owner
from setpoint.api.machinery.fields.sets import Set
from setpoint.api.machinery.fields.shape import FREE, MAP, Shape
from setpoint.api.machinery.schema import canonical
from setpoint.api.machinery.schema.node import Node

Json = dict[str, Any]
Paths = tuple[tuple[str, ...], ...]
#: an object in another version with that version's schema; None for a version that is no longer served. May raise `Misfit`
Convert = Callable[[Json, str], tuple[Json, Node] | None]

_UNOWNED = (
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
)
#: what no entry ever holds
STRIPPED = sets.union(
    sets.of_paths((("apiVersion",), ("kind",), ("metadata",))), sets.of_paths(tuple(("metadata", name) for name in _UNOWNED))
)

paths_set = lru_cache(maxsize=256)(sets.of_paths)


class Misfit(ValueError):
    """An object does not fit the schema of another version, in which somebody owns a part of it."""


class Write(Struct, frozen=True):
    """Who writes, where and when.

    `api_version` and `kind` are the endpoint's, `time` is RFC 3339 in whole seconds. `reset` are paths that the endpoint cannot
    change and so does not own. `convert` gives objects in the versions of other entries; without it all entries count as of
    one version.
    """

    manager: str
    api_version: str
    time: str
    kind: str = ""
    subresource: str = ""
    reset: Paths = ()
    convert: Convert | None = None

    @property
    def stamp(self) -> str | None:
        """The time of an updater's entry. Entries of `scale` are carried over to the parent object without one."""
        return None if self.subresource == "scale" else self.time

    @property
    def ignored(self) -> Set:
        return paths_set(self.reset)

    def identity(self, operation: str) -> Identity:
        return entries.identity(self.manager, operation, self.api_version, self.subresource)


def update(old: Json | None, new: Json, node: Node, write: Write) -> None:
    """Set `new["metadata"]["managedFields"]`, or remove it where nothing is tracked, or cannot be.

    `old` is None for a create. Both objects are in the stored form of the write's version, of which `node` is the schema.
    """
    sent = new["metadata"].pop("managedFields", None)
    try:
        _update(old, new, sent, node, write)
    except Misfit:
        new["metadata"].pop("managedFields", None)
    except Unfit:  # the entries stay; validation will refuse the object
        if old is not None and "managedFields" in old["metadata"]:
            new["metadata"]["managedFields"] = old["metadata"]["managedFields"]


def _update(old: Json | None, new: Json, sent: Any, node: Node, write: Write) -> None:
    metadata = new["metadata"]
    if old is None:
        taken = _taken_by_new(node, new, write)
        if taken:
            metadata["managedFields"] = entries.encode({write.identity("Update"): Owner(taken, write.api_version, write.stamp)})
        return
    current = old["metadata"].get("managedFields")
    owners = _owners(current, sent, write.subresource)
    if not owners:
        return
    before = bare(old)
    reconcile(owners, before, node, write)
    changes = compare(root(node), before, new)
    if changes.same and (sent is None or sent == current):
        metadata["managedFields"] = current
        return
    record(owners, Versions(before, new, changes, write), write.identity("Update"), write.stamp)
    entries.cap(owners)
    if owners:
        metadata["managedFields"] = entries.encode(owners)


def _taken_by_new(node: Node, new: Json, write: Write) -> Set:
    def take() -> Set:
        return sets.difference(sets.without(created(root(node), node, new), write.ignored), STRIPPED)

    return forms.remembered(node, write.reset, zero(node), new, take) if node.builtin else take()


def _owners(current: list[Json] | None, sent: Any, subresource: str) -> Managed:
    """The entries to start from: those sent with the write where they can be read, else the object's own."""
    if not subresource and sent is not None and sent != current:
        if entries.is_reset(sent):
            return {}
        try:
            if found := entries.decode(sent, trusted=False):
                return found
        except entries.UnreadableFields:
            pass
    try:
        return entries.decode(current)
    except entries.UnreadableFields:
        return {}


def reconcile(owners: Managed, live: Json, node: Node, write: Write) -> None:
    """Bring the entries of a custom resource in line with its present schema, which may have changed since they were written."""
    if node.builtin:
        return
    for who, owner in owners.items():
        present: Node | None = node
        if write.convert is not None and owner.api_version != write.api_version:
            converted = write.convert(live, owner.api_version)
            present = converted[1] if converted is not None else None
        if present is not None:
            owners[who] = owner.keeping(merging.as_whole(owner.fields, root(present)))


class Versions:
    """The comparison of a write in each version that entries are written in."""

    def __init__(self, old: Json, new: Json, changes: Comparison, write: Write) -> None:
        self.changes = changes
        self.api_version = write.api_version
        self.ignored = write.ignored
        self._old = old
        self._new = new
        self._convert = write.convert
        self._found: dict[str, Comparison | None] = {write.api_version: changes.excluding(self.ignored)}

    def at(self, api_version: str) -> Comparison | None:
        """None for a version that is gone: its entries go too."""
        if api_version not in self._found:
            self._found[api_version] = self._compare(api_version)
        return self._found[api_version]

    def _compare(self, api_version: str) -> Comparison | None:
        if self._convert is None:
            return self._found[self.api_version]
        old, new = self._convert(self._old, api_version), self._convert(self._new, api_version)
        if old is None or new is None:
            return None
        return compare(root(new[1]), old[0], new[0]).excluding(self.ignored)


def disputed(owners: Managed, versions: Versions, who: Identity) -> dict[Identity, Set]:
    """What the others own of the fields that got new values. Owners in versions that are gone are dropped."""
    found: dict[Identity, Set] = {}
    for other, owner in list(owners.items()):
        if other == who:
            continue
        changes = versions.at(owner.api_version)
        if changes is None:
            del owners[other]
        elif both := sets.intersection(owner.fields, changes.taken):
            found[other] = both
    return found


def release(owners: Managed, versions: Versions, who: Identity) -> None:
    """Take from everybody but `who` what got new values or was removed; whoever owns nothing any more goes."""
    for other, owner in list(owners.items()):
        fields = owner.fields
        if other != who:
            changes = versions.at(owner.api_version)
            if changes is None:
                del owners[other]
                continue
            fields = sets.difference(sets.difference(fields, changes.taken), changes.removed)
        if fields:
            owners[other] = owner.keeping(fields)
        else:
            del owners[other]


def record(owners: Managed, versions: Versions, who: Identity, time: str | None) -> None:
    """Enter an update of `who` into the entries: what it owned and did not remove, and what it gave new values."""
    mine = owners.pop(who, None)
    release(owners, versions, who)
    changes = versions.at(versions.api_version) or versions.changes
    kept = sets.difference(mine.fields, changes.removed) if mine else sets.EMPTY
    taken = sets.difference(changes.taken, STRIPPED)
    if taken:
        owners[who] = Owner(sets.union(kept, taken), versions.api_version, time)
    elif mine and kept:
        owners[who] = mine.keeping(kept)


def bare(obj: Json) -> Json:
    """The object without its entries, which own nothing."""
    metadata = obj.get("metadata")
    if not metadata or "managedFields" not in metadata:
        return obj
    return {**obj, "metadata": {name: value for name, value in metadata.items() if name != "managedFields"}}


# --- from nothing ---


def root(node: Node) -> Shape:
    """The shape of a whole object; custom resources have the standard metadata."""
    found = shape.of(node)
    if "metadata" not in found.declared and found.mode in (MAP, FREE):
        found.adopt("metadata", _metadata())
        for name in ("apiVersion", "kind"):
            found.adopt(name, shape.WHOLE)
    return found


@lru_cache(maxsize=1)
def _metadata() -> Shape:
    from setpoint.api.machinery.schema.trees import load

    return shape.of(load().tree("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"))


_ZEROS: dict[int, tuple[Node, Json]] = {}


def zero(node: Node) -> Json:
    """An object of this kind of which nothing is set: what a new one is compared with. Never change it."""
    if not node.builtin:
        return {}
    found = _ZEROS.get(id(node))
    if found is None:
        found = _ZEROS[id(node)] = (node, canonical.canonicalise({}, node))
    return found[1]


def blank(node: Node) -> Json:
    """The same as a dict of the caller's own, which may be filled in."""
    made: Json = orjson.loads(orjson.dumps(zero(node)))
    return made


def created(whole: Shape, node: Node, new: Json) -> Set:
    """Everything that a new object sets. Equal parts of equal objects share one set."""
    start = zero(node)
    taken: Set = {}
    for name in sorted(new):
        value, before = new[name], start.get(name)
        child = whole.field(name) or shape.WHOLE
        if isinstance(before, dict) and isinstance(value, dict) and child.mode == MAP:
            if name == "metadata":  # without what differs from object to object and is nobody's
                value = {key: item for key, item in value.items() if key not in _UNOWNED}
            if found := _created_part(child, before, value):
                taken[sets.field(name)] = found
        elif name not in start or before != value:
            taken[sets.field(name)] = comparing.whole(child, value)
    return taken


def _created_part(child: Shape, before: Json, value: Json) -> Set:
    if len(value) <= 2:
        return compare(child, before, value).taken
    return remembered(child, value, lambda: compare(child, before, value).taken)
