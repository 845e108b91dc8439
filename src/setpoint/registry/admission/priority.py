"""A pod's priority class becomes a number and a preemption policy.

Source: `plugin/pkg/admission/priority`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.registry.admission.chain import BaseStep, refuse
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.strategy import Object

_CLASSES = "priorityclasses.scheduling.k8s.io"
_PREEMPT = "PreemptLowerPriority"
#: exist in every cluster, even before its objects are made
SYSTEM_CLASSES: dict[str, Mapping[str, Any]] = {
    "system-node-critical": {"value": 2000001000, "preemptionPolicy": _PREEMPT},
    "system-cluster-critical": {"value": 2000000000, "preemptionPolicy": _PREEMPT},
}


class Priority(BaseStep):
    """Resolves `spec.priorityClassName`, and sees that one class at the most is the default."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        if group_resource == _CLASSES and operation == "DELETE":
            return True
        return group_resource in {"pods", _CLASSES} and operation in {"CREATE", "UPDATE"} and not subresource

    async def admit(self, request: AdmissionRequest) -> None:
        if request.resource.group_resource != "pods":
            return
        spec = (request.obj or {}).get("spec") or {}
        if request.operation == "UPDATE":
            _keep(spec, (request.old or {}).get("spec") or {})
            return
        chosen = await self._class(request, spec)
        value, policy = chosen.get("value", 0), chosen.get("preemptionPolicy") or _PREEMPT
        given = spec.get("priority")
        if given is not None and given != value:
            why = (
                f"the integer value of priority ({given}) must not be provided in pod spec; priority admission controller"
                f" computed {value} from the given PriorityClass name"
            )
            raise refuse(request, why)
        wanted = spec.get("preemptionPolicy")
        if wanted is not None and wanted != policy:
            why = (
                f"the string value of PreemptionPolicy ({wanted}) must not be provided in pod spec; priority admission controller"
                f" computed {policy} from the given PriorityClass name"
            )
            raise refuse(request, why)
        spec["priority"], spec["preemptionPolicy"] = value, policy

    async def _class(self, request: AdmissionRequest, spec: Object) -> Mapping[str, Any]:
        name = spec.get("priorityClassName")
        if not name:
            default = await self._default()
            if default is None:
                return {}
            spec["priorityClassName"] = default["metadata"]["name"]
            return default
        found = await self._reader.get(_CLASSES, "", name) or SYSTEM_CLASSES.get(name)
        if found is None:
            raise refuse(request, f"no PriorityClass with name {name} was found")
        return found

    async def _default(self) -> Mapping[str, Any] | None:
        """The class that is everybody's unless they choose; of several the lowest."""
        defaults = [one for one in await self._reader.list(_CLASSES) if one.get("globalDefault")]
        return min(defaults, key=lambda one: int(one.get("value", 0)), default=None)

    async def validate(self, request: AdmissionRequest) -> None:
        """There is one default at the most, and the system's classes stay."""
        if request.operation == "DELETE":
            if request.name in SYSTEM_CLASSES:
                raise refuse(request, "this is a system priority class and cannot be deleted")
            return
        obj = request.obj or {}
        if request.resource.group_resource != _CLASSES or not obj.get("globalDefault"):
            return
        default = await self._default()
        if default is not None and default["metadata"]["name"] != obj["metadata"].get("name"):
            other = default["metadata"]["name"]
            raise refuse(request, f"PriorityClass {other} is already marked as default. Only one default can exist")


def _keep(spec: Object, old: Mapping[str, Any]) -> None:
    """A replace may leave out what admission had put in."""
    for field in ("priority", "preemptionPolicy"):
        if spec.get(field) is None and old.get(field) is not None:
            spec[field] = old[field]
