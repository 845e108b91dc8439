"""`componentstatuses`: the parts of the control plane as older clients ask for them; deprecated, made and not stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from setpoint.api.machinery.status import not_found
from setpoint.apiserver import answers
from setpoint.apiserver.call import Call
from setpoint.apiserver.negotiation import accepted
from setpoint.apiserver.options import list_options
from setpoint.apiserver.request import Response
from setpoint.apiserver.selecting import check_fields

_HEAD = {"kind": "ComponentStatus", "apiVersion": "v1"}
_PARTS = ("scheduler", "controller-manager", "etcd-0")


async def handle(call: Call) -> Response:
    """They run in this process or are watched by whoever runs them: while this server answers they are healthy. The store
    says itself how it is.
    """
    trouble = call.pipeline.health.checks("/readyz")["etcd"]()
    call.form = accepted(call.request, answers.OBJECT_FORMS)
    parts = [_part(name, trouble) for name in _named(call)]
    if call.form.kind == "Table":
        from setpoint.apiserver import tables

        return answers.value_answer(call, tables.of_objects(call, tables.layout_of(call), [_HEAD | part for part in parts], {}))
    if call.info.name:
        return answers.made_answer(call, _HEAD | parts[0], answers.internal_type(call))
    return _list(call, parts)


def _named(call: Call) -> Sequence[str]:
    """The one that is asked for, or those that selectors choose (`pkg/registry/core/componentstatus`); none has labels."""
    if call.info.name:
        if call.info.name not in _PARTS:
            raise not_found("", "componentstatus", call.info.name)
        return (call.info.name,)
    options = list_options(call.request.query, watch=False)
    check_fields(call.resource, options)
    return [name for name in _PARTS if options.labels.matches({}) and options.fields.matches({"metadata.name": name})]


def _list(call: Call, parts: list[dict[str, Any]]) -> Response:
    if call.form.kind == "PartialObjectMetadata":
        raise answers.is_list(call)
    if call.form.kind:
        from setpoint.apiserver import partial

        return answers.value_answer(call, partial.many([part["metadata"] for part in parts], call.form.version, {}))
    return answers.value_answer(call, {"kind": "ComponentStatusList", "apiVersion": "v1", "metadata": {}, "items": parts})


def _part(name: str, trouble: str) -> dict[str, Any]:
    condition = {"type": "Healthy", "status": "True", "message": "ok"}
    if trouble and name.startswith("etcd"):
        condition = {"type": "Healthy", "status": "False", "message": trouble, "error": trouble}
    return {"metadata": {"name": name}, "conditions": [condition]}
