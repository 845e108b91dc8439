"""POST to a collection."""

from __future__ import annotations

from setpoint.api.machinery.status import StatusError, bad_request
from setpoint.apiserver import answers, ownership
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store import create as creating
from setpoint.apiserver.negotiation import accepted, body_type
from setpoint.apiserver.options import manager_of, write_options
from setpoint.apiserver.request import Response
from setpoint.registry.strategy import Object


async def handle(call: Call) -> Response:
    request, store = call.request, call.store
    call.form = accepted(request, answers.OBJECT_FORMS)
    options = write_options(request, "CreateOptions")
    media = body_type(request)
    obj, warnings = call.bodies.decode(request.body, media, call.resource, call.version, options.validation)
    call.warnings += warnings
    context = call.context("CREATE", options)
    place(call, obj)
    refuse_version(obj)
    obj = call.bodies.complete(obj, call.resource, call.version, store.strategy, store.codec)
    owner = ownership.for_create(call, manager_of(options, request))
    outcome = await creating.create(store, context, obj, owner)
    return answers.object_answer(call, outcome.record, 201)


def place(call: Call, obj: Object) -> None:
    """Put the object into the URL's namespace. Raises 400 when it names another."""
    metadata = obj["metadata"]
    if not call.resource.namespaced:
        metadata.pop("namespace", None)
        return
    given = metadata.get("namespace")
    if given and given != call.info.namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    metadata["namespace"] = call.info.namespace


def refuse_version(obj: Object) -> None:
    """A new object has no resourceVersion; "0" counts as none."""
    if obj["metadata"].pop("resourceVersion", "") not in ("", "0", None):
        raise StatusError(500, "", "resourceVersion should not be set on objects to be created")
