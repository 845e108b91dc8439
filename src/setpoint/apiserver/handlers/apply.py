"""Server-side apply (PATCH with `application/apply-patch+yaml`).

The merging itself is `api.machinery.fields.apply`; here stands what surrounds it: decoding, create when absent, retries.
Source: apiserver `endpoints/handlers/patch.go` (applyPatcher), KEP-555.
"""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery.status import StatusError, bad_request
from setpoint.apiserver import answers, ownership
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store import update as updating
from setpoint.apiserver.generic_store.objects import api_version, ordered
from setpoint.apiserver.handlers.update import check_identity, strategy_of
from setpoint.apiserver.options import manager_of, write_options
from setpoint.apiserver.request import Response
from setpoint.registry.strategy import Object


async def handle(call: Call) -> Response:
    request, store, info = call.request, call.store, call.info
    options = write_options(request, "PatchOptions", apply=True)
    strategy = strategy_of(call)
    applied = _read(call)
    manager = manager_of(options, request)

    async def compute(old: Object) -> Object:
        current = store.codec.served(old, call.version)
        merged = ownership.apply(call, current, applied, manager, force=bool(options.force))
        check_identity(call, merged)
        return call.bodies.complete(merged, call.resource, call.version, strategy, store.codec)

    async def create() -> Object:
        if applied["metadata"].get("uid"):
            raise store.conflict(info.name, f"uid mismatch: the provided object specified uid {applied['metadata']['uid']}, and no existing object was found")
        empty = ordered({"metadata": {}}, call.resource.kind, api_version(call.resource, call.version))
        merged = ownership.apply(call, empty, applied, manager, force=bool(options.force))
        check_identity(call, merged)
        return call.bodies.complete(merged, call.resource, call.version, strategy, store.codec)

    change = updating.Update(
        name=info.name, compute=compute, strategy=strategy, creates=None if info.subresource else create, patch=True
    )
    outcome = await updating.update(store, call.context("UPDATE", options), change)
    return answers.object_answer(call, outcome.record, 201 if outcome.created else 200)


def _read(call: Call) -> Object:
    """The applied configuration: YAML (of which JSON is a part). Raises 400."""
    import yaml

    try:
        applied: Any = yaml.load(call.request.body, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        raise bad_request(f"error decoding YAML: {error}") from None
    if not isinstance(applied, dict):
        raise bad_request("error decoding YAML: the body is no object")
    if not isinstance(applied.get("metadata"), dict):
        applied["metadata"] = {}
    if applied["metadata"].get("managedFields"):
        raise bad_request("metadata.managedFields must be nil")
    wanted = api_version(call.resource, call.version)
    if applied.get("apiVersion") != wanted:
        raise bad_request(f"Incorrect version specified in apply patch. Specified patch version: {applied.get('apiVersion', '')}, expected: {wanted}")
    return ordered(applied, call.resource.kind, wanted)


def not_merged(error: ValueError) -> StatusError:
    """What an applied configuration that does not fit the schema is answered with."""
    return StatusError(500, "", str(error))
