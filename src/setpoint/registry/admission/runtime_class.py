"""A pod's runtime class must exist; it adds its overhead and where its pods can run.

Source: `plugin/pkg/admission/runtimeclass`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.registry.admission.chain import BaseStep, refuse
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.strategy import Object

Toleration = Mapping[str, Any]
_OTHER_OVERHEAD = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"


class RuntimeClass(BaseStep):
    """Resolves `spec.runtimeClassName`."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return group_resource == "pods" and operation == "CREATE" and not subresource

    async def admit(self, request: AdmissionRequest) -> None:
        spec = (request.obj or {}).get("spec") or {}
        found = await self._class(request, spec)
        if found is not None:
            _set_overhead(request, spec, (found.get("overhead") or {}).get("podFixed"))
            _set_scheduling(request, spec, found.get("scheduling") or {})

    async def validate(self, request: AdmissionRequest) -> None:
        """The overhead is the class's, nobody else's."""
        spec = (request.obj or {}).get("spec") or {}
        found = await self._class(request, spec)
        if found is not None and found.get("overhead") is not None:
            if (spec.get("overhead") or {}) != (found["overhead"].get("podFixed") or {}):
                raise refuse(request, _OTHER_OVERHEAD)
        elif spec.get("overhead"):
            raise refuse(request, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")

    async def _class(self, request: AdmissionRequest, spec: Object) -> Mapping[str, Any] | None:
        name = spec.get("runtimeClassName")
        if not name:
            return None
        found = await self._reader.get("runtimeclasses.node.k8s.io", "", name)
        if found is None:
            raise refuse(request, f'pod rejected: RuntimeClass "{name}" not found')
        return found


def _set_overhead(request: AdmissionRequest, spec: Object, overhead: Mapping[str, Any] | None) -> None:
    if not overhead:
        return
    if spec.get("overhead") and spec["overhead"] != overhead:
        raise refuse(request, _OTHER_OVERHEAD)
    spec["overhead"] = dict(overhead)


def _set_scheduling(request: AdmissionRequest, spec: Object, scheduling: Mapping[str, Any]) -> None:
    selector = scheduling.get("nodeSelector") or {}
    own = spec.get("nodeSelector") or {}
    for key, value in sorted(selector.items()):
        if own.get(key, value) != value:
            theirs, ours = f"runtimeClass.scheduling.nodeSelector[{key}] = {value}", f"pod.spec.nodeSelector[{key}] = {own[key]}"
            raise refuse(request, f"conflict: {theirs}; {ours}")
    if selector:
        spec["nodeSelector"] = {**own, **selector}
    if scheduling and (merged := merge_tolerations(spec.get("tolerations") or (), scheduling.get("tolerations") or ())):
        spec["tolerations"] = merged


def merge_tolerations(first: Sequence[Toleration], second: Sequence[Toleration]) -> list[Toleration]:
    """Both lists, without what another of them tolerates anyway. Source: `pkg/util/tolerations`."""
    everything = [*first, *second]
    merged: list[Toleration] = []
    for index, one in enumerate(everything):
        wider = any(_covers(other, one) for other in merged)
        if not wider and not any(other != one and _covers(other, one) for other in everything[index + 1 :]):
            merged.append(dict(one))
    return merged


def _covers(wide: Toleration, narrow: Toleration) -> bool:
    """Whether the one tolerates all that the other does."""
    if wide == narrow:
        return True
    operator, effect = wide.get("operator") or "Equal", wide.get("effect") or ""
    key = wide.get("key") or ""
    if key != (narrow.get("key") or "") and (key or operator != "Exists"):
        return False
    if effect and effect != (narrow.get("effect") or ""):
        return False
    if effect == "NoExecute" and (longest := wide.get("tolerationSeconds")) is not None:
        seconds = narrow.get("tolerationSeconds")
        if seconds is None or seconds > longest:
            return False
    if operator == "Exists":
        return True
    return operator == "Equal" and narrow.get("operator") == "Equal" and (wide.get("value") or "") == (narrow.get("value") or "")
