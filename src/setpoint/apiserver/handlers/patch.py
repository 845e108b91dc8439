"""PATCH: JSON patch, merge patch, strategic merge patch; server-side apply goes on to `handlers.apply`.

The patch is applied to the object in the version of the URL, on the pending head, and again when another write came between.
Source: apiserver `endpoints/handlers/patch.go`.
"""

from __future__ import annotations

from typing import Any

import orjson

from setpoint.api.machinery import gojson
from setpoint.api.machinery.patch import json_patch, merge, strategic
from setpoint.api.machinery.schema.canonical import NOTHING
from setpoint.api.machinery.status import StatusError, bad_request
from setpoint.apiserver import answers, heartbeats, ownership
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store import update as updating
from setpoint.apiserver.handlers.update import check_identity
from setpoint.apiserver.negotiation import accepted
from setpoint.apiserver.options import WriteOptions, manager_of, write_options
from setpoint.apiserver.request import Response
from setpoint.registry.resource import ServedResource
from setpoint.registry.strategy import Object

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_YAML = "application/apply-patch+yaml"
_DEEPEST = 254  # levels that orjson writes
_BUILT_IN = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_YAML)
_CUSTOM = (JSON_PATCH, MERGE_PATCH, APPLY_YAML)


async def handle(call: Call) -> Response:
    request, store, info = call.request, call.store, call.info
    media = patch_type(call)
    call.form = accepted(request, answers.OBJECT_FORMS)
    if media == APPLY_YAML:
        from setpoint.apiserver.handlers import apply

        return await apply.handle(call)
    options = write_options(request, "PatchOptions")
    first = read_patch(request.body, media)
    patch = updating.anew(first, lambda: read_patch(request.body, media))
    strategy, manager = ownership.endpoint_strategy(call), manager_of(options, request)
    resource, version = call.resource, call.version
    warnings: list[str] = []

    async def compute(old: Object) -> Object:
        current = store.codec.served(old, version)
        patched, warnings[:] = apply_patch(call, current, patch(), media, options)
        check_identity(call, patched)
        settled = old if media == STRATEGIC_PATCH else NOTHING  # the other patches are decoded anew
        return call.bodies.complete(patched, resource, version, strategy, store.codec, settled)

    change = updating.Update(
        name=info.name,
        compute=compute,
        strategy=strategy,
        own=ownership.for_update(call, manager),
        patch=True,
        copies=media == MERGE_PATCH and store.codec.reads_plainly and store.codec.is_stored(version),  # which is decoded anew
        renew=heartbeats.renewal(call, strategy, first, manager, strategic=media == STRATEGIC_PATCH),
    )
    outcome = await updating.update(store, call.context("UPDATE", options), change)
    call.warnings[:0] = warnings
    return answers.object_answer(call, outcome.record)


def patch_type(call: Call) -> str:
    """The Content-Type, letter for letter, which must be one that this resource takes. Raises 415."""
    media = call.request.header("content-type").partition(";")[0].strip()
    if not call.resource.custom:
        if media not in _BUILT_IN:
            raise StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    elif media not in _CUSTOM:
        message = f"the body of the request was in an unknown format - accepted media types include: {', '.join(_CUSTOM)}"
        raise StatusError(415, "UnsupportedMediaType", message)
    return media


def read_patch(body: bytes, media: str) -> Any:
    """The patch document. Raises 400."""
    try:
        found = orjson.loads(body)
        if body.count(b"{") + body.count(b"[") >= _DEEPEST:
            orjson.dumps(found)
        return found
    except TypeError:  # deeper than can be written again
        detail = "exceeded max depth"
    except orjson.JSONDecodeError:
        try:
            return _plain(gojson.parse(body))
        except (gojson.SyntaxComplaint, OverflowError) as error:
            detail = str(error)
    raise bad_request(detail if media == STRATEGIC_PATCH else f"error decoding patch: {detail}") from None


def apply_patch(
    call: Call, current: Object, patch: Any, media: str, options: WriteOptions, *, other: ServedResource | None = None
) -> tuple[Object, list[str]]:
    """The patched object, decoded as a body is: canonical, of the URL's kind; and warnings. Raises 400, 413, 415, 422.

    `other` is the kind that a subresource shows instead.
    """
    resource, version = (other, other.storage_version) if other is not None else (call.resource, call.version)
    body = call.request.body
    if media == STRATEGIC_PATCH:
        node = call.bodies.tree(resource, version)
        merged = strategic.apply(current, patch, node)
        settled = current if other is None and call.store.codec.is_stored(version) else {}
        return call.bodies.restored(merged, patch, body, resource, version, options.validation, settled)
    if media == JSON_PATCH:
        patched = json_patch.apply(current, patch, validation=options.validation)
    else:
        patched = merge.apply(current, patch)
    return call.bodies.patched(patched, current, body, resource, version, options.validation)


def _plain(value: Any) -> Any:
    """A slowly read JSON value as the fast reader gives it."""
    if isinstance(value, gojson.Members):
        return {name: _plain(inner) for name, inner in value}
    if isinstance(value, gojson.Number):
        return value.plain()
    return [_plain(inner) for inner in value] if isinstance(value, list) else value
