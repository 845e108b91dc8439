"""Pods stay five minutes on a node that is not ready or cannot be reached, unless they say how long.

Source: `plugin/pkg/admission/defaulttolerationseconds`.
"""

from __future__ import annotations

from setpoint.registry.admission.chain import BaseStep
from setpoint.registry.admission.request import AdmissionRequest

_SECONDS = 300
_NOT_READY, _UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"


class DefaultTolerationSeconds(BaseStep):
    """Adds the two tolerations."""

    def __init__(self, not_ready: int = _SECONDS, unreachable: int = _SECONDS) -> None:
        self._seconds = {_NOT_READY: not_ready, _UNREACHABLE: unreachable}

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return group_resource == "pods" and operation in {"CREATE", "UPDATE"} and not subresource

    async def admit(self, request: AdmissionRequest) -> None:
        spec = (request.obj or {}).get("spec") or {}
        tolerations = spec.get("tolerations") or []
        added = [
            {"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}
            for taint, seconds in self._seconds.items()
            if not any(
                toleration.get("key", "") in {taint, ""} and toleration.get("effect", "") in {"NoExecute", ""}
                for toleration in tolerations
            )
        ]
        if added:
            spec["tolerations"] = [*tolerations, *added]
