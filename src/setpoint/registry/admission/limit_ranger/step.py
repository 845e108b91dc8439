"""When limits apply, and to what.

Source: `plugin/pkg/admission/limitranger/admission.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.registry.admission.chain import BaseStep, refuse
from setpoint.registry.admission.limit_ranger.bounds import claim_errors, pod_errors
from setpoint.registry.admission.limit_ranger.defaults import set_defaults
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest

_PODS = {("pods", "CREATE", ""), ("pods", "UPDATE", "resize")}


class LimitRanger(BaseStep):
    """A pod's resources change through `resize` alone, so its other updates are not looked at."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        if group_resource == "pods":
            return (group_resource, operation, subresource) in _PODS
        return group_resource == "persistentvolumeclaims" and operation in {"CREATE", "UPDATE"} and not subresource

    async def admit(self, request: AdmissionRequest) -> None:
        if request.resource.plural != "pods" or request.obj is None or _leaving(request):
            return
        for limits in await self._limits(request):
            set_defaults(request.obj, limits)

    async def validate(self, request: AdmissionRequest) -> None:
        if request.obj is None or _leaving(request):
            return
        check = pod_errors if request.resource.plural == "pods" else claim_errors
        for limits in await self._limits(request):
            if errors := check(request.obj.get("spec") or {}, limits):
                raise refuse(request, errors[0] if len(errors) == 1 else f"[{', '.join(dict.fromkeys(errors))}]")

    async def _limits(self, request: AdmissionRequest) -> list[list[Mapping[str, Any]]]:
        ranges = await self._reader.list("limitranges", request.namespace)
        return [(limit_range.get("spec") or {}).get("limits") or [] for limit_range in ranges]


def _leaving(request: AdmissionRequest) -> bool:
    """What is being deleted may always lose its finalizers."""
    return request.operation == "UPDATE" and bool((request.obj or {}).get("metadata", {}).get("deletionTimestamp"))
