"""A pod's runtime class must exist; it adds its overhead and where its pods can run.

Source: `plugin/pkg/admission/runtimeclass`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.registry.admission.chain import BaseStep, refuse
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.strategy import Object


class RuntimeClass(BaseStep):
    """Resolves `spec.runtimeClassName`."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return group_resource == "pods" and operation == "CREATE" and not subresource

    async def admit(self, request: AdmissionRequest) -> None:
        spec = (request.obj or {}).get("spec") or {}
        name = spec.get("runtimeClassName")
        if not name:
            return
        found = await self._reader.get("runtimeclasses.node.k8s.io", "", name)
        if found is None:
            raise refuse(request, f'pod rejected: RuntimeClass "{name}" not found')
        _set_overhead(request, spec, (found.get("overhead") or {}).get("podFixed"))
        _set_scheduling(request, spec, found.get("scheduling") or {})

    async def validate(self, request: AdmissionRequest) -> None:
        spec = (request.obj or {}).get("spec") or {}
        if spec.get("overhead") and not spec.get("runtimeClassName"):
            raise refuse(request, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")


def _set_overhead(request: AdmissionRequest, spec: Object, overhead: Mapping[str, Any] | None) -> None:
    if not overhead:
        return
    if spec.get("overhead") and spec["overhead"] != overhead:
        raise refuse(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
    spec["overhead"] = dict(overhead)


def _set_scheduling(request: AdmissionRequest, spec: Object, scheduling: Mapping[str, Any]) -> None:
    selector = scheduling.get("nodeSelector") or {}
    own = spec.get("nodeSelector") or {}
    for key, value in selector.items():
        if own.get(key, value) != value:
            theirs, ours = f"runtimeClass.scheduling.nodeSelector[{key}] = {value}", f"pod.spec.nodeSelector[{key}] = {own[key]}"
            raise refuse(request, f"conflict: {theirs}; {ours}")
    if selector:
        spec["nodeSelector"] = {**own, **selector}
    tolerations = spec.get("tolerations") or []
    added = [dict(toleration) for toleration in scheduling.get("tolerations") or () if toleration not in tolerations]
    if added:
        spec["tolerations"] = [*tolerations, *added]
