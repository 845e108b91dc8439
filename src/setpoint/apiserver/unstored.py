"""Admission of what is created and never stored: token reviews, access reviews.

What is bound (`bindings`) passes admission where it is done. A body that cannot be read is complained about by its handler.
Source: apiserver `endpoints/handlers/create.go`, which makes no difference between the two.
"""

from __future__ import annotations

import orjson
from msgspec import structs

from setpoint.api.machinery import decode
from setpoint.api.machinery.status import StatusError
from setpoint.apiserver.call import Call
from setpoint.apiserver.negotiation import JSON, body_type
from setpoint.apiserver.options import write_options
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.strategy import Object

_ELSEWHERE = "bindings"


async def admit(call: Call) -> None:
    """Ask the admission steps; what they change is what the handler reads. Raises StatusError."""
    resource, admission = call.resource, call.pipeline.admission
    if resource.plural == _ELSEWHERE or not admission.concerned("CREATE", resource.group_resource, ""):
        return
    obj = _read(call)
    if obj is None:
        return
    options = write_options(call.request, "CreateOptions")
    request = AdmissionRequest(
        operation="CREATE",
        resource=resource,
        version=resource.storage_version,
        context=call.context("CREATE", options),
        namespace=call.info.namespace if resource.namespaced else "",
        obj=obj,
        options=options.as_dict(),
        request_version=call.version,
    )
    before = orjson.dumps(obj)
    await admission.admit(request)
    await admission.validate(request)
    if (after := orjson.dumps(obj)) != before:
        headers = {**call.request.headers, "content-type": JSON}
        call.request = structs.replace(call.request, body=after, headers=headers)


def _read(call: Call) -> Object | None:
    """The body, in whatever form it comes: none may pass unseen that the handler can read."""
    try:
        obj, _ = call.bodies.decode(call.request.body, body_type(call.request), call.resource, call.version, decode.IGNORE)
    except StatusError:
        return None
    return obj
