"""DELETE of one object."""

from __future__ import annotations

from typing import Any

import orjson

from setpoint.api.machinery import decode
from setpoint.api.machinery.status import FieldError, bad_request, invalid, invalid_object, not_supported
from setpoint.apiserver import answers
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store import delete as deleting
from setpoint.apiserver.generic_store.delete import Deletion
from setpoint.apiserver.negotiation import accepted, body_type
from setpoint.apiserver.options import WriteOptions, boolean, check_dry_run, integer
from setpoint.apiserver.request import Response

_POLICIES = ("Foreground", "Background", "Orphan")


async def handle(call: Call) -> Response:
    call.form = accepted(call.request, answers.OBJECT_FORMS)
    deletion, options = delete_options(call)
    outcome = await deleting.delete(call.store, call.context("DELETE", options), call.info.name, deletion)
    if outcome.deleted and not call.resource.strategy.delete_returns_object:
        return answers.value_answer(call, success(call, orjson.loads(outcome.record.value)["metadata"]["uid"]))
    status = 202 if not outcome.deleted and deletion.orphan is False else 200
    return answers.object_answer(call, outcome.record, status)


def success(call: Call, uid: str) -> dict[str, Any]:
    """The Status of a deletion that is done."""
    details = {"name": call.info.name, "group": call.resource.group, "kind": call.resource.plural, "uid": uid}
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {name: value for name, value in details.items() if value},
    }


def delete_options(call: Call) -> tuple[Deletion, WriteOptions]:
    """DeleteOptions from the body, which wins, or the query. Raises 400 and 422."""
    request = call.request
    given = _from_body(call) if request.body else _from_query(call)
    errors: list[FieldError] = []
    policy, orphan = given.get("propagationPolicy"), given.get("orphanDependents")
    if policy is not None and orphan is not None:
        detail = "orphanDependents and deletionPropagation cannot be both set"
        errors.append(invalid("propagationPolicy", policy, detail))
    if policy is not None and policy not in _POLICIES:
        errors.append(not_supported("propagationPolicy", policy, (*_POLICIES, "nil")))
    errors += check_dry_run(given.get("dryRun"))
    if errors:
        raise invalid_object("meta.k8s.io", "DeleteOptions", "", errors)
    conditions = given.get("preconditions") or {}
    deletion = Deletion(
        grace=given.get("gracePeriodSeconds"),
        propagation=policy or "",
        orphan=orphan,
        uid=conditions.get("uid"),
        version=conditions.get("resourceVersion"),
    )
    shown = {name: given[name] for name in _SHOWN if given.get(name) is not None}
    return deletion, WriteOptions("DeleteOptions", dry_run=bool(given.get("dryRun")), deletion=shown)


def _from_query(call: Call) -> dict[str, Any]:
    query = call.request.query
    if not query:
        return {}
    given: dict[str, Any] = {
        "gracePeriodSeconds": integer(query, "gracePeriodSeconds"),
        "orphanDependents": boolean(query, "orphanDependents"),
        "dryRun": query.get("dryRun"),
    }
    policy = query.get("propagationPolicy")
    given["propagationPolicy"] = policy[0] if policy else None
    return given


#: what admission sees of the options, in the order of their Go struct
_SHOWN = ("gracePeriodSeconds", "preconditions", "orphanDependents", "propagationPolicy")
_DEFINITION = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"
_SCHEME = "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"


class _AnyVersion(decode.Expected, frozen=True):
    """DeleteOptions are the same in every group and version."""

    def settle(self, obj: dict[str, Any]) -> tuple[str, str]:
        kind, version = obj.get("kind") or self.kind, obj.get("apiVersion") or "meta.k8s.io/v1"
        if kind != self.kind:
            raise bad_request(f'no kind "{kind}" is registered for version "{version}" in scheme "{_SCHEME}"')
        return kind, version


def _from_body(call: Call) -> dict[str, Any]:
    """The options in a body; unknown fields do not count. Raises 400."""
    media, expected = body_type(call.request), _AnyVersion("DeleteOptions", "v1")
    node = call.bodies.definition(_DEFINITION)
    try:
        return decode.read(call.request.body, media, node, validation=decode.IGNORE, expected=expected).obj
    except decode.DecodeError as error:
        raise bad_request(str(error)) from error
