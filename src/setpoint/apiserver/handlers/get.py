"""GET of one object."""

from __future__ import annotations

from setpoint.api.machinery.status import StatusError
from setpoint.apiserver import answers
from setpoint.apiserver.call import Call
from setpoint.apiserver.negotiation import accepted
from setpoint.apiserver.request import Response
from setpoint.apiserver.versions import catch_up


async def handle(call: Call) -> Response:
    """The object now; `resourceVersion` asks for one not older than that."""
    request, info = call.request, call.info
    call.form = accepted(request, answers.OBJECT_FORMS)
    store = call.store
    if request.query and (text := request.parameter("resourceVersion")) not in ("", "0"):
        if not (text.isascii() and text.isdigit()):
            raise StatusError(500, "", f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax')
        await catch_up(store.store, int(text))
    record = await store.get(info.namespace, info.name)
    return answers.object_answer(call, record)
