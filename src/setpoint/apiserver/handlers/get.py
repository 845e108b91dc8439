"""GET of one object."""

from __future__ import annotations

from setpoint.apiserver import answers, versions
from setpoint.apiserver.call import Call
from setpoint.apiserver.negotiation import accepted
from setpoint.apiserver.request import Response


async def handle(call: Call) -> Response:
    """The object now; `resourceVersion` asks for one not older than that."""
    request, info = call.request, call.info
    call.form = accepted(request, answers.OBJECT_FORMS)
    store = call.store
    if request.query and (text := request.parameter("resourceVersion")) not in ("", "0"):
        await versions.catch_up(store.store, versions.parse(text))
    record = await store.get(info.namespace, info.name)
    return answers.object_answer(call, record)
