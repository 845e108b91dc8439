"""Server-side apply (PATCH with `application/apply-patch+yaml`).

The merging itself is `api.machinery.fields.apply`; here stands what surrounds it: reading, create when absent, retries.
Source: apiserver `endpoints/handlers/patch.go` (applyPatcher), KEP-555.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from setpoint.api.machinery import decode
from setpoint.api.machinery.fields.applying import kind_of, metadata_of
from setpoint.api.machinery.status import StatusError, bad_request
from setpoint.apiserver import answers, ownership
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store import update as updating
from setpoint.apiserver.generic_store.objects import api_version, ordered
from setpoint.apiserver.handlers.update import check_identity, may_create
from setpoint.apiserver.options import manager_of, write_options
from setpoint.apiserver.request import Response
from setpoint.registry.strategy import Object


async def handle(call: Call) -> Response:
    request, store, info = call.request, call.store, call.info
    options = write_options(request, "PatchOptions", apply=True)
    strategy = ownership.endpoint_strategy(call)
    found = _read(call)
    applied, repeated = found.obj, found.warnings if options.validation != decode.IGNORE else []
    if options.validation == decode.WARN:
        call.warnings += repeated
    manager, force = manager_of(options, request), bool(options.force)

    configuration = updating.anew(applied, lambda: read(call, decode.IGNORE))

    def merge(live: Object | None) -> Object:
        merged = ownership.apply(call, live, configuration(), manager, force=force)
        merged = _converted(call, merged)
        if live is None:  # stored JSON begins with the kind, which lists leave out, in whatever order it was applied
            merged = ordered(merged, call.resource.kind, api_version(call.resource, call.version))
        if options.validation == decode.STRICT:  # the schema's and the owners' complaints come before
            _check_repeated(repeated)
        check_identity(call, merged)
        return call.bodies.complete(merged, call.resource, call.version, strategy, store.codec)

    async def compute(old: Object) -> Object:
        return merge(store.codec.served(old, call.version))

    async def create() -> Object:
        merged = merge(None)
        if uid := metadata_of(applied).get("uid"):
            raise store.conflict(
                info.name, f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            )
        return merged

    change = updating.Update(
        name=info.name,
        compute=compute,
        strategy=strategy,
        creates=None if info.subresource else create,
        may_create=partial(may_create, call),
        patch=True,
    )
    outcome = await updating.update(store, call.context("UPDATE", options), change)
    return answers.object_answer(call, outcome.record, 201 if outcome.created else 200)


def _converted(call: Call, merged: Object) -> Object:
    """The result in its canonical form. The kinds of its fields were checked, not what stands in them: that is a 500, too."""
    try:
        return call.bodies.canonical(merged, call.resource, call.version)
    except ValueError:
        return _restored(call, merged)


def _restored(call: Call, merged: Object) -> Object:
    """The same where values have to be converted first. Raises 500 with Go's words for what does not fit its type."""
    from setpoint.api.machinery.patch import restore

    node = call.bodies.tree(call.resource, call.version)
    found = restore.complaint(merged, node)
    if not found:
        try:
            return decode.check(merged, node).obj
        except decode.DecodeError as error:
            found = str(error)
    kind, metadata = kind_of(merged), metadata_of(merged)
    what = f"({metadata.get('namespace') or ''}/{metadata.get('name') or ''}; {kind})"
    detail = f"unable to convert unstructured object to {kind}: {found}"
    raise StatusError(500, "", f"failed to convert new object {what} to proper version: {detail}")


def read(call: Call, validation: str) -> Object:
    """The applied configuration: YAML, of which JSON is a part. Repeated keys are treated as `validation` says. Raises 400."""
    found = _read(call)
    if validation == decode.STRICT:
        _check_repeated(found.warnings)
    if validation != decode.IGNORE:
        call.warnings += found.warnings
    return found.obj


def _read(call: Call) -> decode.Decoded:
    try:
        found = decode.read(call.request.body, "application/yaml", None, validation=decode.WARN)
    except decode.DecodeError as error:
        raise bad_request(f"error decoding YAML: {error}") from error
    decode.go_numbers(found.obj)
    return found


def _check_repeated(repeated: Sequence[str]) -> None:
    """Raises 400 where keys stand twice."""
    if repeated:
        listed = "".join(f"\n  {warning}" for warning in repeated)
        raise bad_request(f"error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:{listed}")
