"""DELETE of a collection: every object that matches, one after the other; with `limit`, those of the first page."""

from __future__ import annotations

from setpoint.api.machinery.status import StatusError
from setpoint.apiserver import answers
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store import delete as deleting
from setpoint.apiserver.handlers import delete
from setpoint.apiserver.handlers import list as listing
from setpoint.apiserver.negotiation import accepted
from setpoint.apiserver.options import list_options
from setpoint.apiserver.request import Response
from setpoint.apiserver.selecting import scope_of
from setpoint.storage.protocol import Record


async def handle(call: Call) -> Response:
    """Answers the list of what was deleted or marked, not a Status."""
    call.form = accepted(call.request, answers.OBJECT_FORMS)
    options = list_options(call.request.query, watch=False)
    deletion, write = delete.delete_options(call)
    scope = scope_of(call, options)
    found = await listing.find(call, options, scope)
    acted_on: list[Record] = []
    for record in found.records:
        name = record.key.rpartition("/")[2]
        context = call.context("DELETE", write)
        context.name = ""  # a request about all of them names none
        try:
            await deleting.delete(call.store, context, name, deletion)
        except StatusError as error:
            if error.reason != "NotFound":
                raise
        acted_on.append(record)
    return await listing.list_answer(call, acted_on, found.revision, listing.metadata_of(found, scope))
