"""DELETE of one object."""

from __future__ import annotations

from typing import Any

import orjson

from setpoint.api.machinery.status import FieldError, bad_request, invalid, invalid_object, not_supported
from setpoint.apiserver import answers
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store import delete as deleting
from setpoint.apiserver.generic_store.delete import Deletion
from setpoint.apiserver.negotiation import YAML, accepted, body_type
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
    return deletion, WriteOptions("DeleteOptions", dry_run=bool(given.get("dryRun")))


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


_TYPES: dict[str, tuple[type, str]] = {
    "gracePeriodSeconds": (int, "int64"),
    "orphanDependents": (bool, "bool"),
    "propagationPolicy": (str, "v1.DeletionPropagation"),
    "dryRun": (list, "[]string"),
    "preconditions": (dict, "v1.Preconditions"),
}
_GO_NAMES: dict[type, str] = {str: "string", int: "number", float: "number", bool: "bool", list: "array", dict: "object"}


def _from_body(call: Call) -> dict[str, Any]:
    media = body_type(call.request)
    try:
        given = _yaml(call.request.body) if media == YAML else orjson.loads(call.request.body)
    except ValueError:
        raise bad_request("couldn't get version/kind; json parse error: unexpected end of JSON input") from None
    if not isinstance(given, dict):
        given = {}
    kind = given.get("kind") or "DeleteOptions"
    if kind != "DeleteOptions":
        where = "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"
        raise bad_request(f'no kind "{kind}" is registered for version "{given.get("apiVersion", "")}" in scheme "{where}"')
    for name, (wanted, go_type) in _TYPES.items():
        value = given.get(name)
        if value is not None and (not isinstance(value, wanted) or (wanted is int and isinstance(value, bool))):
            raise bad_request(
                f"json: cannot unmarshal {_GO_NAMES[type(value)]} into Go struct field DeleteOptions.{name} of type {go_type}"
            )
    return given


def _yaml(body: bytes) -> Any:
    from setpoint.api.machinery.yaml_bodies import to_json

    return orjson.loads(to_json(body)[0])
