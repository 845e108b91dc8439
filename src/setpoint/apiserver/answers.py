"""From a record to the answer in the form that was asked for."""

from __future__ import annotations

from typing import Any

import orjson

from setpoint.api.machinery.status import StatusError, not_acceptable
from setpoint.apiserver.call import Call
from setpoint.apiserver.negotiation import JSON, PROTOBUF, YAML, Form
from setpoint.apiserver.request import JSON_HEADERS, Request, Response, error_response
from setpoint.storage.protocol import Record

OBJECT_FORMS = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")
#: of kinds that no table is made of
METADATA_FORMS = OBJECT_FORMS[1:]


def encode(value: Any, form: Form) -> bytes:
    """Any JSON value in the media type of a form."""
    if form.media == YAML:
        return to_yaml(value)
    if form.pretty:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n"
    return orjson.dumps(value)


def headers(form: Form) -> dict[str, str]:
    return {"Content-Type": form.media}


def to_yaml(value: Any) -> bytes:
    """YAML as Kubernetes writes it."""
    from setpoint.apiserver import yaml_answers

    return yaml_answers.dump(value)


def object_answer(call: Call, record: Record, status: int = 200) -> Response:
    """One object."""
    form = call.form
    if not form.kind:
        value = call.store.codec.json(record, call.version)
        if form.media == JSON and not form.pretty:
            return Response(status, JSON_HEADERS, value, warnings=call.warnings)
        return Response(status, headers(form), encode(orjson.loads(value), form), warnings=call.warnings)
    return Response(status, headers(form), encode(transformed(call, record), form), warnings=call.warnings)


def transformed(call: Call, record: Record) -> Any:
    """One object as a Table or PartialObjectMetadata."""
    from setpoint.apiserver import partial, tables

    if call.form.kind == "Table":
        return tables.table(call, [record], record.revision)
    if call.form.kind == "PartialObjectMetadataList":
        raise _no_list(internal_type(call))
    return partial.one(call.store.codec.decode(record)["metadata"], call.form.version)


def internal_type(call: Call) -> str:
    """`core.Secret`: the Go type that messages name."""
    if call.resource.custom:
        return "unstructured.Unstructured"
    group = call.resource.group.partition(".")[0] or "core"
    return f"{group}.{call.resource.kind}"


def value_answer(call: Call, value: Any, status: int = 200) -> Response:
    """Any JSON value that is no stored object (a Status, a Scale, a review)."""
    return Response(status, headers(call.form), encode(value, call.form), warnings=call.warnings)


def made_answer(call: Call, value: Any, internal: str, status: int = 200) -> Response:
    """An object that is made for the answer and not stored, as itself or as its metadata; `internal` is its Go type."""
    if call.form.kind == "PartialObjectMetadataList":
        raise _no_list(internal)
    if call.form.kind:
        from setpoint.apiserver import partial

        value = partial.one(value.get("metadata") or {}, call.form.version)
    return value_answer(call, value, status)


def _no_list(internal: str) -> StatusError:
    return not_acceptable(f"you requested PartialObjectMetadataList, but the requested object is not a list (*{internal})")


def is_list(call: Call) -> StatusError:
    """The refusal of a list as one object's metadata."""
    kind = f"*{internal_type(call)}List"
    return not_acceptable(f"you requested PartialObjectMetadata, but the requested object is a list ({kind})")


def error_answer(request: Request, error: StatusError, warnings: list[str] | None = None) -> Response:
    """A refusal in the form that the client accepts."""
    from setpoint.apiserver.negotiation import for_error

    form = for_error(request)
    response = error_response(error)
    if form.media == PROTOBUF:
        from setpoint.api.machinery import protobuf_status

        response = Response(error.code, {**response.headers, **headers(form)}, protobuf_status.encode(error.status()))
    elif form.media == YAML or form.pretty:
        response = Response(error.code, {**response.headers, **headers(form)}, encode(error.status(), form))
    response.warnings = warnings or ()
    return response
