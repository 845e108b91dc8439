"""Deleting an object: grace periods, finalizers, preconditions, what happens to dependents.

Source: apiserver `registry/rest/delete.go` (BeforeDelete), `registry/generic/registry/store.go` (Delete), and for namespaces
Kubernetes `registry/core/namespace/storage`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from msgspec import Struct

from setpoint.api.machinery import status
from setpoint.apiserver.generic_store import create as creating
from setpoint.apiserver.generic_store.store import GenericStore, Outcome
from setpoint.kit.clock import parse_rfc3339, rfc3339
from setpoint.registry.apiextensions import removal
from setpoint.registry.metadata import FOREGROUND, ORPHAN
from setpoint.registry.strategy import Context, Object
from setpoint.storage.protocol import Event, Record


class Deletion(Struct):
    """DeleteOptions: `grace` in seconds, `propagation` Foreground, Background or Orphan, `uid` and `version` preconditions."""

    grace: int | None = None
    propagation: str = ""
    orphan: bool | None = None
    uid: str | None = None
    version: str | None = None
    #: nobody is asked: the server deletes on behalf of a request that was admitted as a whole
    admitted: bool = False

    def policy(self) -> str:
        """The propagation that was asked for, empty when none was."""
        if self.orphan is not None:
            return "Orphan" if self.orphan else "Background"
        return self.propagation


async def delete(store: GenericStore, context: Context, name: str, deletion: Deletion) -> Outcome:
    """Delete an object, or mark it as being deleted while it has finalizers or a grace period. Raises 404, 409."""
    if store.strategy.default_propagation_warning and not deletion.policy():
        context.warnings.append(store.strategy.default_propagation_warning)

    async def attempt(current: Record | None) -> Outcome:
        if current is None:
            raise store.not_found(name)
        return await _checked(store, context, name, deletion, current)

    return await store.on_head(context.namespace, name, attempt)


async def _checked(store: GenericStore, context: Context, name: str, deletion: Deletion, current: Record) -> Outcome:
    old = store.codec.decode(current)
    if not deletion.admitted:
        request = store.request(context, "DELETE", None, old)
        await store.admission.admit(request)
        await store.admission.validate(request)
    check_preconditions(store, name, deletion, old)
    return await _attempt(store, context, deletion, current, old)


async def _attempt(store: GenericStore, context: Context, deletion: Deletion, current: Record, old: Object) -> Outcome:
    if store.resource.kind == "Namespace" and not store.resource.group:
        marked = _begin_namespace(store, deletion, old)
        if marked is not None:
            return await _mark(store, context, current, old, marked)
    if store.resource.kind == "CustomResourceDefinition" and store.resource.group == "apiextensions.k8s.io":
        marked = removal.begin(old, store.clock.now())
        if marked is not None:
            return await _mark(store, context, current, old, marked)
    marked, grace = _mark_graceful(store, context, deletion, old)
    if marked is None and grace is not None:
        return Outcome(current)
    finalizers = _finalizers(store, deletion, old)
    if grace is None and not finalizers:
        return await remove(store, context, current, old)
    obj = marked if marked is not None else {**old, "metadata": dict(old["metadata"])}
    _set_finalizers(obj["metadata"], finalizers)
    if marked is None:
        _mark_now(store, obj["metadata"])
    if grace == 0 and not finalizers:
        return await remove(store, context, current, obj)
    return await _mark(store, context, current, old, obj)


#: kinds whose deletion only begins: they see to preconditions themselves, in words of their own
_BEGUN = (("", "Namespace"), ("apiextensions.k8s.io", "CustomResourceDefinition"))


def check_preconditions(store: GenericStore, name: str, deletion: Deletion, old: Object) -> None:
    """409 unless the object is the one that was meant."""
    meta, resource = old["metadata"], store.resource
    begun = (resource.group, resource.kind) in _BEGUN
    for field, wanted, found, so in (
        ("UID", deletion.uid, meta["uid"], "The object might have been deleted and then recreated"),
        ("ResourceVersion", deletion.version, meta["resourceVersion"], "The object might have been modified"),
    ):
        if wanted is None or wanted == found:
            continue
        if begun:
            why = f"Precondition failed: {field} in precondition: {wanted}, {field} in object meta: {found}"
            raise status.conflict(resource.group, resource.plural, name, why)
        why = f"the {field} in the precondition ({wanted}) does not match the {field} in record ({found}). {so}"
        raise status.conflict(resource.group, resource.kind, name, why)


def _mark_graceful(store: GenericStore, context: Context, deletion: Deletion, old: Object) -> tuple[Object | None, int | None]:
    """The object with its grace period begun or shortened, and the period; `(None, period)` when nothing is to change.

    `(None, None)`: this deletion is not graceful.
    """
    meta = old["metadata"]
    requested = 1 if deletion.grace is not None and deletion.grace < 0 else deletion.grace
    if meta.get("deletionTimestamp"):
        remaining = meta.get("deletionGracePeriodSeconds")
        if not remaining:
            return None, None
        if requested is None or requested >= remaining:
            return None, remaining
        began = parse_rfc3339(meta["deletionTimestamp"]) - remaining
        return _with_deletion(old, began + requested, requested, bump=False), requested
    grace = store.strategy.grace_period(context, old, requested)
    if grace is None:
        return None, None
    return _with_deletion(old, store.clock.now() + grace, grace, bump=True), grace


def _with_deletion(old: Object, at: float, grace: int, *, bump: bool) -> Object:
    meta = dict(old["metadata"])
    meta["deletionTimestamp"], meta["deletionGracePeriodSeconds"] = rfc3339(at), grace
    if bump and meta.get("generation"):
        meta["generation"] += 1
    return {**old, "metadata": meta}


def _mark_now(store: GenericStore, meta: dict[str, Any]) -> None:
    """Mark an object that only its finalizers keep."""
    now = store.clock.now()
    if not meta.get("deletionTimestamp"):
        if meta.get("generation"):
            meta["generation"] += 1
        meta["deletionTimestamp"] = rfc3339(now)
    elif parse_rfc3339(meta["deletionTimestamp"]) > now:
        meta["deletionTimestamp"] = rfc3339(now)
    meta["deletionGracePeriodSeconds"] = 0


def _finalizers(store: GenericStore, deletion: Deletion, old: Object) -> Sequence[str]:
    """The object's finalizers with those of the propagation policy put on or taken off."""
    present = old["metadata"].get("finalizers") or ()
    default = store.strategy.default_propagation
    if default == "Unsupported":
        return present
    policy = deletion.policy()
    if not policy:
        policy = next(
            ({ORPHAN: "Orphan", FOREGROUND: "Foreground"}[word] for word in present if word in (ORPHAN, FOREGROUND)), ""
        )
    if not policy and default == "Orphan":
        policy = default
    wanted = [word for word in present if word not in (ORPHAN, FOREGROUND)]
    if policy == "Orphan":
        wanted.append(ORPHAN)
    elif policy == "Foreground":
        wanted.append(FOREGROUND)
    return present if set(wanted) == set(present) else wanted


def _set_finalizers(meta: dict[str, Any], finalizers: Sequence[str]) -> None:
    if finalizers:
        meta["finalizers"] = list(finalizers)
    else:
        meta.pop("finalizers", None)


def _begin_namespace(store: GenericStore, deletion: Deletion, old: Object) -> Object | None:
    """A namespace as it is when its termination begins; itself while its contents go; None when it may be removed."""
    if old["metadata"].get("deletionTimestamp"):
        return old if (old.get("spec") or {}).get("finalizers") else None
    obj = {**old, "metadata": dict(old["metadata"]), "status": {**(old.get("status") or {}), "phase": "Terminating"}}
    obj["metadata"]["deletionTimestamp"] = rfc3339(store.clock.now())
    _set_finalizers(obj["metadata"], _finalizers(store, deletion, old))
    return obj


async def _mark(store: GenericStore, context: Context, current: Record, old: Object, obj: Object) -> Outcome:
    if obj == old:
        return Outcome(current)
    if context.dry_run:
        return Outcome(creating.imagined(store, current.key, obj, current.revision))
    record = await store.store.update(current.key, store.codec.encoder(store.strategy, obj), expect=current.revision)
    return Outcome(record)


async def remove(store: GenericStore, context: Context, current: Record, obj: Object) -> Outcome:
    """Take the object out of the store; `obj` is its last state, as the answer shows it."""
    if context.dry_run:
        return Outcome(creating.imagined(store, current.key, obj, current.revision), deleted=True)
    event: Event = await store.store.delete(current.key, expect=current.revision)
    obj["metadata"]["resourceVersion"] = str(event.revision)
    if store.resource.after_delete is not None:
        await store.resource.after_delete(context, obj)
    return Outcome(Record(current.key, orjson.dumps(obj), event.revision, current.created), deleted=True)


def finished(store: GenericStore, obj: Object, old: Object) -> bool:
    """Whether this update takes away the last thing that kept an object that is being deleted."""
    if obj["metadata"].get("finalizers") or not old["metadata"].get("deletionTimestamp"):
        return False
    if store.resource.kind == "Namespace" and not store.resource.group:
        return not (obj.get("spec") or {}).get("finalizers")
    grace: int | None = old["metadata"].get("deletionGracePeriodSeconds")
    return grace == 0
