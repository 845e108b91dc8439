"""PUT of an object or of a subresource that is part of it."""

from __future__ import annotations

from functools import partial
from typing import Any

from msgspec.structs import replace

from setpoint.api.machinery.decode import IGNORE
from setpoint.api.machinery.status import bad_request
from setpoint.apiserver import answers, ownership
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store import update as updating
from setpoint.apiserver.negotiation import accepted, body_type
from setpoint.apiserver.options import manager_of, write_options
from setpoint.apiserver.request import Response
from setpoint.registry.strategy import Object
from setpoint.storage.backends.etcd.layout import Layout

#: whatever store there is, messages speak of etcd
_PLACES = Layout("/registry")


async def handle(call: Call) -> Response:
    request, store, info = call.request, call.store, call.info
    call.form = accepted(request, answers.OBJECT_FORMS)
    options = write_options(request, "UpdateOptions")
    media = body_type(request)
    obj, warnings = _read(call, media, options.validation)
    call.warnings += warnings
    strategy, uid = ownership.endpoint_strategy(call), obj["metadata"].get("uid")
    body = updating.anew(obj, lambda: _read(call, media, IGNORE)[0])

    async def compute(old: Object) -> Object:
        check_uid(call, uid, old["metadata"]["uid"])
        return body()

    async def create() -> Object:
        check_uid(call, uid, "")
        new = body()
        new["metadata"].pop("resourceVersion", None)
        return new

    change = updating.Update(
        name=info.name,
        compute=compute,
        strategy=strategy,
        own=ownership.for_update(call, manager_of(options, request)),
        creates=create if strategy.allow_create_on_update and not info.subresource else None,
        may_create=partial(may_create, call),
    )
    outcome = await updating.update(store, call.context("UPDATE", options), change)
    return answers.object_answer(call, outcome.record, 201 if outcome.created else 200)


async def may_create(call: Call) -> None:
    """A change of what is not there creates it: that is another right. Raises 403.

    Source: apiserver `endpoints/handlers/create.go`, `update.go` (withAuthorization).
    """
    authorizer = call.pipeline.authorizer
    if authorizer is not None:
        await authorizer.authorize(call.request, replace(call.info, verb="create"))


def _read(call: Call, media: str, validation: str) -> tuple[Object, list[str]]:
    """The body as the object that it describes, and warnings. Raises 400."""
    obj, warnings = call.bodies.decode(call.request.body, media, call.resource, call.version, validation)
    check_identity(call, obj)
    strategy = ownership.endpoint_strategy(call)
    return call.bodies.complete(obj, call.resource, call.version, strategy, call.store.codec), warnings


def check_identity(call: Call, obj: Object) -> None:
    """The object must be the URL's. Raises 400."""
    metadata, info = obj["metadata"], call.info
    name = metadata.get("name")
    if not name:
        raise bad_request(f"the name of the object ({info.name} based on URL) was undeterminable: name must be provided")
    if name != info.name:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({info.name})")
    if call.resource.namespaced:
        given = metadata.get("namespace")
        if given and given != info.namespace:
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
        metadata["namespace"] = info.namespace
    else:
        metadata.pop("namespace", None)


def check_uid(call: Call, given: Any, present: str) -> None:
    """409 when a body names another object of the same name."""
    if given and given != present:
        name = call.info.name
        place = _PLACES.place(call.resource.key(call.info.namespace, name)).decode()
        raise call.store.conflict(
            name,
            f"StorageError: invalid object, Code: 4, Key: {place}, ResourceVersion: 0, "
            f"AdditionalErrorMsg: Precondition failed: UID in precondition: {given}, UID in object meta: {present}",
        )
