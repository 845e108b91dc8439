"""Creating an object."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import orjson

from setpoint.api.machinery.status import FieldError, StatusError
from setpoint.apiserver.generic_store.objects import select
from setpoint.apiserver.generic_store.store import GenericStore, Outcome
from setpoint.registry import metadata
from setpoint.registry.resource import Begin
from setpoint.registry.strategy import Context, Object
from setpoint.storage import protocol
from setpoint.storage.protocol import Record

_ATTEMPTS = 8
#: raises StatusError 403 for who may not create
Permit = Callable[[], Awaitable[None]]


async def create(
    store: GenericStore,
    context: Context,
    obj: Object,
    own: Callable[[Object], None] | None = None,
    permit: Permit | None = None,
) -> Outcome:
    """Store a new object (in the stored version, defaulted; changed in place).

    `own` computes managedFields, `permit` refuses who may not create, where that has not been asked yet.
    A generateName that meets a taken name is tried again with another suffix.
    """
    meta = obj["metadata"]
    if meta.get("name") or not meta.get("generateName"):
        return await _create(store, context, obj, own, permit=permit)
    pristine = orjson.dumps(obj)
    for attempt in range(_ATTEMPTS):
        if attempt:
            obj = orjson.loads(pristine)
        obj["metadata"]["name"] = store.strategy.generate_name(obj["metadata"]["generateName"])
        try:
            return await _create(store, context, obj, own, permit=permit, generated=True)
        except StatusError as error:
            if error.reason != "AlreadyExists" or attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError


async def _create(
    store: GenericStore,
    context: Context,
    obj: Object,
    own: Callable[[Object], None] | None,
    *,
    permit: Permit | None,
    generated: bool = False,
) -> Outcome:
    strategy, meta = store.strategy, obj["metadata"]
    context.warnings += metadata.deduplicate_owners(obj)
    metadata.fill_for_create(meta, store.stamp())
    if own is not None:
        own(obj)
    context.name = meta.get("name", "")
    request = store.request(context, "CREATE", obj, None)
    request.generated_name = generated
    await store.admission.admit(request)
    metadata.deduplicate_owners(obj)
    if strategy.has_generation and strategy.generation_from_start:
        meta["generation"] = 1
    strategy.prepare_for_create(context, obj)
    if errors := _validate(store, context, obj):
        await try_begin(store.resource.begin_create, context, obj, None)
        raise store.invalid(meta.get("name", ""), errors)
    if permit is not None:
        await permit()
    await store.admission.validate(request)
    context.warnings += strategy.warnings_on_create(context, obj)
    store.finish(obj, strategy)
    release = await begin(store.resource.begin_create, context, obj, None)
    try:
        record = await _write(store, context, obj)
    except protocol.Uncertain:  # it may have been written, and then needs what it took; so it does after a cancellation
        raise
    except Exception:
        await release(success=False)
        raise
    await release(success=not context.dry_run)
    return Outcome(record, created=True)


def _validate(store: GenericStore, context: Context, obj: Object) -> list[FieldError]:
    meta, resource, strategy = obj["metadata"], store.resource, store.strategy
    errors = metadata.validate(meta, namespaced=resource.namespaced, name_rule=strategy.name_rule(obj))
    if store.checks_finalizer_words:
        errors += metadata.validate_finalizer_words(meta)
    return errors + strategy.validate(context, obj)


async def _write(store: GenericStore, context: Context, obj: Object) -> Record:
    name = obj["metadata"]["name"]
    key = store.key(context.namespace, name)
    if context.dry_run:
        if await store.store.head(key) is not None:
            raise await _exists(store, key, obj["metadata"])
        return await store.codec.rehearsed(obj, imagined(store, key, obj))
    try:
        return await store.store.create(key, store.codec.encoder(store.strategy, obj), ttl=store.resource.ttl)
    except protocol.Exists:
        raise await _exists(store, key, obj["metadata"]) from None


async def _exists(store: GenericStore, key: str, meta: Object) -> StatusError:
    """409 for a name that is taken, which says so when its holder is being deleted.

    An object that has a generateName, too, may be sent again: another name may be free.
    """
    error = store.exists(meta["name"])
    message, details = error.message, error.details
    if meta.get("generateName"):
        message += ", the server was not able to generate a unique name for the object"
        details = {**(details or {}), "retryAfterSeconds": 1}
    present = await store.store.head(key)
    if present is not None and store.codec.decode(present)["metadata"].get("deletionTimestamp"):
        message = f"object is being deleted: {message}"
    return StatusError(error.code, error.reason, message, details)


def imagined(store: GenericStore, key: str, obj: Object, revision: int = 0) -> Record:
    """The record that a dry run would have written."""
    return Record(key, orjson.dumps(obj), revision, revision, select(store.strategy, obj))


Release = Callable[..., Awaitable[None]]


async def begin(start: Begin | None, context: Context, obj: Object, old: Object | None) -> Release:
    """Call a kind's allocation, if it has one: it may set fields. What is returned ends it: `await end(success=…)`."""
    end = await start(context, obj, old) if start is not None and not context.subresource else None
    return end or _nothing


async def try_begin(start: Begin | None, context: Context, obj: Object, old: Object | None) -> None:
    """What an allocation refuses is all that is told of an invalid object: Kubernetes allocates before it validates."""
    if start is not None:
        release = await begin(start, context, obj, old)
        await release(success=False)


async def _nothing(*, success: bool) -> None:
    """Nothing was allocated."""
