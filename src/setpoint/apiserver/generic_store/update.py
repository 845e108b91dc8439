"""Changing an object: PUT, and what patches and applies come to.

The change is computed on the pending head and written on condition that the head is still there; when another write came
between, it is computed again, unless the caller asked for a certain resourceVersion.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import orjson
from msgspec import Struct

from setpoint.api.machinery import fields
from setpoint.api.machinery.names import path_segment
from setpoint.api.machinery.status import FieldError, StatusError, invalid, invalid_object
from setpoint.apiserver.generic_store import create as creating
from setpoint.apiserver.generic_store import delete as deleting
from setpoint.apiserver.generic_store.store import GenericStore, Outcome
from setpoint.apiserver.versions import unsigned
from setpoint.registry import metadata
from setpoint.registry.admission.request import AdmissionRequest, Shown
from setpoint.registry.strategy import Context, Object, Strategy
from setpoint.storage import protocol
from setpoint.storage.protocol import Record

#: `compute(old)` gives the new object in the stored version, defaulted, and may refuse
Compute = Callable[[Object], Awaitable[Object]]
#: `own(new, old)` sets managedFields of `new`
Own = Callable[[Object, Object], None]
T = TypeVar("T")


class Update(Struct):
    """One change. `strategy` is that of the endpoint (the main one, or a subresource's).

    `patch`: what `compute` gives is made of the object that it gets and may share parts with it; without a resourceVersion in
    it, it is always tried again. `renew`: does it on a short way, where that comes to the same (see `apiserver.heartbeats`).
    `shown`: how the endpoint shows the object to admission (`scale`).
    `copies`: what `compute` gives has parts of its own wherever they, or its hooks, change anything.
    `creates` makes the object where there is none, which `may_create` refuses to those who may only change one.
    """

    name: str
    compute: Compute
    strategy: Strategy
    own: Own | None = None
    creates: Callable[[], Awaitable[Object]] | None = None
    may_create: creating.Permit | None = None
    patch: bool = False
    copies: bool = False
    renew: Callable[[Object], Object | None] | None = None
    operation: str = "UPDATE"
    shown: Shown | None = None


def anew(first: T, again: Callable[[], T]) -> Callable[[], T]:
    """Gives every attempt a value of its own, since an attempt changes what it works on: `first`, then what `again` makes."""
    left = [first]
    return lambda: left.pop() if left else again()


def update(store: GenericStore, context: Context, change: Update) -> Coroutine[Any, Any, Outcome]:
    """Carry out a change; raises 404, 409, 422 and what `compute` raises."""

    def attempt(current: Record | None) -> Coroutine[Any, Any, Outcome]:
        if current is None:
            return _create_instead(store, context, change)
        return _attempt(store, context, change, current)

    return store.on_head(context.namespace, change.name, attempt)


async def _create_instead(store: GenericStore, context: Context, change: Update) -> Outcome:
    if change.creates is None:
        raise store.not_found(change.name)
    obj = await change.creates()
    context.operation = "CREATE"
    own = change.own
    return await creating.create(store, context, obj, None if own is None else lambda new: own(new, {}), permit=change.may_create)


async def _attempt(store: GenericStore, context: Context, change: Update, current: Record) -> Outcome:
    old = store.codec.decode(current)
    if change.renew is not None and (renewed := change.renew(old)) is not None:
        return await _renew(store, change, current, store.request(context, change.operation, renewed, old))
    keeps_form = _keeps_stored_form(store, change, context)
    # what hooks change in a patched object must not change `old` with it, which it is compared with
    if not change.patch or change.copies:
        start = old
    elif keeps_form:
        start = {name: dict(part) if type(part) is dict and name != "spec" else part for name, part in old.items()}
    else:
        start = store.codec.decode(current)
    obj = await change.compute(start)
    _check_version(store, change, obj["metadata"], current)
    warnings = metadata.deduplicate_owners(obj)
    if change.own is not None:
        change.own(obj, old)
    request = store.request(context, change.operation, obj, old)
    request.shown = change.shown
    request.stored_form = keeps_form and change.own is not None
    await store.admission.admit(request)
    return await _finish(store, change, current, request, obj, old, warnings)


async def _finish(
    store: GenericStore,
    change: Update,
    current: Record,
    request: AdmissionRequest,
    obj: Object,
    old: Object,
    warnings: list[str],
) -> Outcome:
    """The way of a change from admission on."""
    context, strategy, meta, old_meta = request.context, change.strategy, obj["metadata"], old["metadata"]
    generation = old_meta.get("generation")
    if generation is None:
        meta.pop("generation", None)
    else:
        meta["generation"] = generation
    strategy.prepare_for_update(context, obj, old)
    if strategy.has_generation and strategy.generation_changed(obj, old):
        meta["generation"] = (generation or 0) + 1
    metadata.keep_on_update(meta, old_meta)
    if errors := _validate(store, strategy, context, obj, old):
        await creating.try_begin(store.resource.begin_update, context, obj, old)
        raise store.invalid(change.name, errors)
    await store.admission.validate(request)
    warnings += strategy.warnings_on_update(context, obj, old)
    store.finish(obj, strategy, obj if request.stored_form else old)
    if deleting.finished(store, obj, old):
        outcome = await deleting.remove(store, context, current, obj)
    elif same(obj, old) and store.codec.is_current(current) and not store.store.outdated(current.key):
        outcome = Outcome(current)
    else:
        outcome = Outcome(await _write(store, context, obj, old, current))
    context.warnings += warnings
    return outcome


def _keeps_stored_form(store: GenericStore, change: Update, context: Context) -> bool:
    """Whether neither the endpoint nor admission puts anything into an object that is not in stored form."""
    if not change.strategy.keeps_stored_form:
        return False
    return not store.admission.changes(change.operation, store.resource.group_resource, context.subresource)


async def _renew(store: GenericStore, change: Update, current: Record, request: AdmissionRequest) -> Outcome:
    """The short way of a heartbeat: what admission and the strategy leave as it is was valid before, and is canonical."""
    context, obj, old = request.context, request.obj or {}, request.old or {}
    before = orjson.dumps(obj)
    await store.admission.admit(request)
    change.strategy.prepare_for_update(context, obj, old)
    if orjson.dumps(obj) != before:
        request.old = old = store.codec.decode(current)  # the other shares with `obj` what may have changed
        return await _finish(store, change, current, request, obj, old, [])
    await store.admission.validate(request)
    warnings = change.strategy.warnings_on_update(context, obj, old)
    outcome = Outcome(await _write(store, context, obj, old, current))
    context.warnings += warnings
    return outcome


def _check_version(store: GenericStore, change: Update, meta: dict[str, Any], current: Record) -> None:
    """Raises for a stale resourceVersion, or one that must be given and is not."""
    text = str(meta.get("resourceVersion") or "")
    wanted = parse_version(text)
    if wanted == 0:
        if not change.patch and not change.strategy.allow_unconditional_update:
            error = invalid("metadata.resourceVersion", 0, "must be specified for an update")
            raise invalid_object(store.resource.group, store.resource.plural, change.name, [error])
    elif wanted != current.revision:
        raise store.conflict(change.name)
    meta["resourceVersion"] = str(current.revision)


def parse_version(text: str) -> int:
    """A resourceVersion of an object; one that is no number is an internal error in Kubernetes."""
    try:
        return unsigned(text)
    except ValueError as error:
        raise StatusError(500, "", str(error)) from None


def _validate(store: GenericStore, strategy: Strategy, context: Context, obj: Object, old: Object) -> list[FieldError]:
    """Kubernetes checks metadata up to five times; causes repeat accordingly, messages do not."""
    meta, old_meta = obj["metadata"], old["metadata"]
    resource = store.resource
    shared = metadata.validate_shared(meta)
    general = metadata.validate(meta, namespaced=resource.namespaced, name_rule=_any_segment, shared=shared)
    change = metadata.validate_change(meta, old_meta, shared)
    errors = general + change
    words = metadata.validate_finalizer_words(meta) if store.checks_finalizer_words else []
    if strategy.compares_metadata_on_update:
        errors += change + words
    if store.checks_finalizer_words and strategy.validates_whole_on_update:
        rule = strategy.validate_name
        whole = metadata.validate(meta, namespaced=resource.namespaced, name_rule=rule, shared=shared) + words
        errors += whole + whole if strategy.validates_whole_twice_on_update else whole
    return errors + strategy.validate_update(context, obj, old)


def _any_segment(name: str, *, prefix: bool) -> list[str]:
    return path_segment(name, prefix=prefix)


def same(obj: Object, old: Object) -> bool:
    """Whether a write would change nothing but the times of managedFields.

    Python takes 1, 1.0 and True for equal, JSON does not: what is equal is compared once more as bytes.
    """
    if not fields.keep_times(obj, old):
        return False
    option = orjson.OPT_SORT_KEYS
    return orjson.dumps(obj, option=option) == orjson.dumps(old, option=option)


async def _write(store: GenericStore, context: Context, obj: Object, old: Object, current: Record) -> Record:
    release = await creating.begin(store.resource.begin_update, context, obj, old)
    if context.dry_run:
        await release(success=False)
        return await store.codec.rehearsed(obj, creating.imagined(store, current.key, obj, current.revision))
    try:
        record = await store.store.update(
            current.key, store.codec.encoder(store.strategy, obj), expect=current.revision, ttl=store.resource.ttl
        )
    except protocol.Uncertain:  # it may have been written, and then needs what it took; so it does after a cancellation
        raise
    except Exception:
        await release(success=False)
        raise
    await release(success=True)
    return record
