"""Server-side apply: merge what a manager applies, find conflicts, remove what it no longer applies.

Source: structured-merge-diff `merge/update.go`; apimachinery `managedfields/internal` (versioncheck, lastappliedmanager,
lastappliedupdater, skipnonapplied, managedfieldsupdater).
"""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery.fields import last_applied, merging, sets, typed
from setpoint.api.machinery.fields import managed as entries
from setpoint.api.machinery.fields.comparing import compare
from setpoint.api.machinery.fields.conflicts import Conflicts
from setpoint.api.machinery.fields.managed import Managed, Owner
from setpoint.api.machinery.fields.sets import Set
from setpoint.api.machinery.fields.shape import Shape
from setpoint.api.machinery.fields.tracking import (
    STRIPPED,
    Versions,
    Write,
    bare,
    blank,
    disputed,
    reconcile,
    record,
    release,
    root,
    zero,
)
from setpoint.api.machinery.schema.node import Node
from setpoint.api.machinery.status import StatusError, bad_request

Json = dict[str, Any]

BEFORE_FIRST_APPLY = "before-first-apply"


def apply(live: Json | None, applied: Json, node: Node, write: Write, *, force: bool = False) -> Json:
    """The object after a manager applied a configuration to it, with its new entries.

    `live` is None where there is no object yet. The result, whose own dict and metadata are new, has yet to be defaulted, made
    canonical (what lost everything in it is null) and validated. Raises StatusError: 400 for what configures another kind,
    500 for one that fits no schema, 409 for conflicts.
    """
    check(applied, write.api_version, write.kind)
    whole = root(node)
    check_types(applied, whole)
    current = bare(live) if live is not None else {"apiVersion": write.api_version, "kind": write.kind, **blank(node)}
    owners = _owners(live, whole, node, write)
    job = _Apply(whole, current, applied, write)
    try:
        result, owners = job.run(owners, force=force)
    except Conflicts as conflicts:
        result, owners = _over_last_applied(job, owners, conflicts)
    if result is None:
        result = current
    elif job.who in owners and write.stamp:
        owners[job.who].time = write.stamp
    result = {**result, "metadata": dict(result.get("metadata") or {})}
    if write.manager == last_applied.KUBECTL:
        last_applied.renew(result, applied)
    if owners:
        result["metadata"]["managedFields"] = entries.encode(owners)
    return result


def check(applied: Json, api_version: str, kind: str) -> None:
    """The configuration must name the kind and version of the URL, and no entries. Raises 400."""
    given, name = (each if isinstance(each, str) else "" for each in (applied.get("apiVersion"), applied.get("kind")))
    if (given, name) != (api_version, kind):
        raise bad_request(f"invalid object type: {_group_version(given)}, Kind={name}")
    if metadata_of(applied).get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")


def check_types(applied: Json, whole: Shape) -> None:
    """Every field of the configuration must be declared and of its type. Raises 500."""
    if found := typed.complaints(whole, applied):
        raise StatusError(500, "", f"failed to create typed patch object ({_name(applied)}): {typed.message(found)}")


def metadata_of(applied: Json) -> Json:
    """A configuration's metadata; what is none is complained about when the whole is compared with its schema."""
    metadata = applied.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _group_version(api_version: str) -> str:
    return api_version if "/" in api_version else f"/{api_version}"


def _name(obj: Json) -> str:
    """`ns/name; /v1, Kind=ConfigMap`; what is no string is no name."""
    metadata = metadata_of(obj)
    namespace, name = (one if isinstance(one, str) else "" for one in (metadata.get("namespace"), metadata.get("name")))
    return f"{namespace}/{name}; {kind_of(obj)}"


def kind_of(obj: Json) -> str:
    """`apps/v1, Kind=Deployment`, `/v1, Kind=Pod`."""
    return f"{_group_version(obj['apiVersion'])}, Kind={obj['kind']}"


def _owners(live: Json | None, whole: Shape, node: Node, write: Write) -> Managed:
    """The entries of the live object; what an object that was not tracked holds belongs to nobody in particular."""
    if live is None:
        return {}
    try:
        owners = entries.decode(live["metadata"].get("managedFields"))
    except entries.UnreadableFields as error:
        raise StatusError(500, "", f"failed to decode managed fields: {error}") from error
    reconcile(owners, live, node, write)
    if not owners:
        start, end = {"apiVersion": live.get("apiVersion"), "kind": live.get("kind"), **zero(node)}, bare(live)
        who = entries.identity(BEFORE_FIRST_APPLY, "Update", write.api_version, write.subresource)
        record(owners, Versions(start, end, compare(whole, start, end), write), who, write.time)
    return owners


class _Apply:
    """One apply, which may be tried twice: unforced, and forced once its conflicts were found to be allowed."""

    def __init__(self, whole: Shape, live: Json, config: Json, write: Write) -> None:
        self.whole = whole
        self.live = live
        self.config = config
        self.write = write
        self.who = write.identity("Apply")

    def run(self, before: Managed, *, force: bool) -> tuple[Json | None, Managed]:
        """The merged object (None if it is the live one) and the entries. Raises Conflicts."""
        owners = {who: Owner(owner.fields, owner.api_version, owner.time) for who, owner in before.items()}
        merged = merging.merge(self.whole, self.live, self.config)
        fields = sets.without(merging.owned(self.whole, self.config), self.write.ignored)
        last = owners.get(self.who)
        owners[self.who] = Owner(fields, self.write.api_version, last.time if last else None)
        if last is not None and not self._keeps(fields, last):
            merged = self.prune(merged, owners, last)
        versions = Versions(self.live, merged, compare(self.whole, self.live, merged), self.write)
        conflicts = disputed(owners, versions, self.who)
        if conflicts and not force:
            raise Conflicts(conflicts)
        release(owners, versions, self.who)
        self.strip(owners)
        return (None if merged == self.live else merged), owners

    def _keeps(self, fields: Set, last: Owner) -> bool:
        """Whether everything that was applied before is applied again: then there is nothing to remove."""
        if last.api_version != self.write.api_version and self.write.convert is not None:
            return not last.fields
        return not sets.difference(last.fields, fields)

    def strip(self, owners: Managed) -> None:
        mine = owners.get(self.who)
        if mine is not None:
            mine.fields = sets.difference(mine.fields, STRIPPED)
            if not mine.fields:
                del owners[self.who]

    def prune(self, merged: Json, owners: Managed, last: Owner) -> Json:
        """Remove what this manager applied before and does not apply now, unless somebody else owns it."""
        mine = last.api_version if self.write.convert is not None else self.write.api_version
        found = self._at(merged, mine)
        if found is None:
            return merged
        start, whole = found
        lost = merging.with_named(last.fields, whole)
        pruned = self._with_owned(start, merging.remove(whole, start, lost) or {}, owners, mine)
        gone = sets.intersection(sets.difference(_named(whole, start), _named(whole, pruned)), lost)
        back = self._at(merging.remove(whole, start, gone) or {}, self.write.api_version)
        return back[0] if back is not None else merged

    def _with_owned(self, start: Json, pruned: Json, owners: Managed, mine: str) -> Json:
        """What somebody owns comes back, in the version in which it is owned; of the version `mine`, as both arguments."""
        claimed: dict[str, Set] = {mine: {}}
        for owner in owners.values():
            version = owner.api_version if self.write.convert is not None else mine
            claimed[version] = sets.union(claimed.get(version, {}), owner.fields)
        for version, fields in claimed.items():
            before, after = self._at(start, version), self._at(pruned, version)
            if before is None or after is None:
                continue
            (start, whole), (pruned, _) = before, after
            kept = sets.union(_named(whole, pruned), merging.with_named(fields, whole))
            pruned = merging.remove(whole, start, sets.difference(_named(whole, start), kept)) or {}
        back = self._at(pruned, mine)
        return back[0] if back is not None else start

    def _at(self, obj: Json, api_version: str) -> tuple[Json, Shape] | None:
        """An object in another version, None for one that is not served any more."""
        here = self.write.api_version
        if self.write.convert is None or obj.get("apiVersion", here) == api_version == here:
            return obj, self.whole
        found = self.write.convert(obj, api_version)
        return (found[0], root(found[1])) if found is not None else None


def _named(whole: Shape, value: Json) -> Set:
    return merging.with_named(merging.owned(whole, value), whole)


def _over_last_applied(job: _Apply, owners: Managed, conflicts: Conflicts) -> tuple[Json | None, Managed]:
    """What kubectl may take over: what it applied from the client's side, the fields of its annotation that still hold."""
    allowed = last_applied.fields(job.live, job.whole, job.write.api_version) if job.who.manager == last_applied.KUBECTL else None
    if allowed is None:
        raise conflicts.answer() from None
    rest = conflicts.less(allowed)
    if rest.fields:
        raise rest.answer() from None
    return job.run(owners, force=True)
