"""`componentstatuses`: the parts of the control plane as older clients ask for them; deprecated, made and not stored."""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery.status import not_found
from setpoint.apiserver import answers
from setpoint.apiserver.call import Call
from setpoint.apiserver.negotiation import accepted
from setpoint.apiserver.request import Response

_HEAD = {"kind": "ComponentStatus", "apiVersion": "v1"}
_PARTS = ("scheduler", "controller-manager", "etcd-0")


async def handle(call: Call) -> Response:
    """They run in this process or are watched by whoever runs them: while this server answers they are healthy. The store
    says itself how it is.
    """
    trouble = call.pipeline.health.checks("/readyz")["etcd"]()
    call.form = accepted(call.request, answers.OBJECT_FORMS)
    names: tuple[str, ...] = _PARTS
    if call.info.name:
        if call.info.name not in _PARTS:
            raise not_found("", "componentstatus", call.info.name)
        names = (call.info.name,)
    parts = [_part(name, trouble) for name in names]
    if call.form.kind == "Table":
        from setpoint.apiserver import tables

        return answers.value_answer(call, tables.of_objects(call, tables.layout_of(call), [_HEAD | part for part in parts], {}))
    if call.info.name:
        return answers.made_answer(call, _HEAD | parts[0], answers.internal_type(call))
    return _list(call, parts)


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
