"""`componentstatuses`: the parts of the control plane as older clients ask for them; deprecated, made and not stored."""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery.status import not_found
from setpoint.apiserver import answers
from setpoint.apiserver.call import Call
from setpoint.apiserver.negotiation import accepted
from setpoint.apiserver.request import Response

_PARTS = ("scheduler", "controller-manager", "etcd-0")


async def handle(call: Call) -> Response:
    """They run in this process or are watched by whoever runs them: while this server answers they are healthy. The store
    says itself how it is.
    """
    trouble = call.pipeline.health.checks("/readyz")["etcd"]()
    call.form = accepted(call.request, ("Table",))
    names: tuple[str, ...] = _PARTS
    if call.info.name:
        if call.info.name not in _PARTS:
            raise not_found("", "componentstatus", call.info.name)
        names = (call.info.name,)
    if call.form.kind == "Table":
        from setpoint.apiserver import tables

        return answers.value_answer(
            call, tables.of_objects(call, tables.layout_of(call), [_part(name, trouble) for name in names], {})
        )
    if call.info.name:
        return answers.value_answer(call, {"kind": "ComponentStatus", "apiVersion": "v1", **_part(call.info.name, trouble)})
    items = [_part(name, trouble) for name in _PARTS]
    return answers.value_answer(call, {"kind": "ComponentStatusList", "apiVersion": "v1", "metadata": {}, "items": items})


def _part(name: str, trouble: str) -> dict[str, Any]:
    condition = {"type": "Healthy", "status": "True", "message": "ok"}
    if trouble and name.startswith("etcd"):
        condition = {"type": "Healthy", "status": "False", "message": trouble, "error": trouble}
    return {"metadata": {"name": name}, "conditions": [condition]}
