"""A new node takes no pods until its controller has seen it ready.

Source: `plugin/pkg/admission/nodetaint`.
"""

from __future__ import annotations

from setpoint.registry.admission.chain import BaseStep
from setpoint.registry.admission.request import AdmissionRequest

_TAINT = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


class TaintNodesByCondition(BaseStep):
    """Adds the taint."""

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return group_resource == "nodes" and operation == "CREATE" and not subresource

    async def admit(self, request: AdmissionRequest) -> None:
        if request.obj is None:
            return
        spec = request.obj.setdefault("spec", {})
        taints = spec.get("taints") or []
        if not any(taint.get("key") == _TAINT["key"] and taint.get("effect") == _TAINT["effect"] for taint in taints):
            spec["taints"] = [*taints, dict(_TAINT)]
