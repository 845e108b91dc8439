"""A pod on a node changes only into what that node can do: PodResizeValidator and NodeDeclaredFeatureValidator.

Source: `plugin/pkg/admission/podresize`, `plugin/pkg/admission/nodedeclaredfeatures` (KEP-1287, KEP-5328).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.api.machinery import quantity
from setpoint.api.machinery.pod_resources import pod_level
from setpoint.registry.admission.chain import BaseStep, refuse
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.pod.aggregate import aggregate_requests

Json = Mapping[str, Any]
#: cpu is told in thousandths, memory in bytes
_MEASURED = {"cpu": 1_000_000, "memory": 1_000_000_000}
_SYSTEM = "kubernetes.io/os"


class _PodUpdate(BaseStep):
    """An update of the spec of a pod that is on a node. The generation counts just those."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def is_changed(self, request: AdmissionRequest) -> bool:
        pod, old = request.obj or {}, request.old or {}
        if not (pod.get("spec") or {}).get("nodeName"):
            return False
        return bool(pod["metadata"].get("generation") != old["metadata"].get("generation"))

    async def node(self, request: AdmissionRequest) -> Json:
        """The pod's node. Raises StatusError 403."""
        name = (request.obj or {})["spec"]["nodeName"]
        found = await self._reader.get("nodes", "", name)
        if found is None:
            raise refuse(request, f'node "{name}" not found')
        return found


class PodResizeValidator(_PodUpdate):
    """A pod grows no larger than its node, and only where nodes can resize pods at all."""

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return (group_resource, operation, subresource) == ("pods", "UPDATE", "resize")

    async def validate(self, request: AdmissionRequest) -> None:
        if not self.is_changed(request):
            return
        node = await self.node(request)
        lacking = list(_lacking((request.obj or {}).get("spec") or {}, (node.get("status") or {}).get("allocatable") or {}))
        if lacking:
            why = f"Node didn't have enough allocatable resources: {'; '.join(lacking)}"
            raise refuse(request, why, [{"reason": "NodeCapacity"}])
        system = (node["metadata"].get("labels") or {}).get(_SYSTEM, "")
        if system != "linux":
            why = f'pod resize is only supported on linux nodes, node "{node["metadata"]["name"]}" is "{system}"'
            raise refuse(request, why, [{"reason": "UnsupportedPlatform"}])


def _lacking(spec: Json, allocatable: Json) -> Iterator[str]:
    overhead = spec.get("overhead") or {}
    requests = aggregate_requests(spec) | pod_level(spec, "requests")
    for name, unit in _MEASURED.items():
        asked = requests[name].nanos if name in requests else 0
        asked += quantity.parse(str(overhead[name])).nanos if name in overhead else 0
        given = quantity.parse(str(allocatable.get(name, "0"))).nanos
        wanted, there = -(-asked // unit), -(-given // unit)
        if wanted > there:
            yield f"{name}, requested: {wanted}, allocatable: {there}"


class NodeDeclaredFeatureValidator(_PodUpdate):
    """What a node must declare to be able to do."""

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return group_resource == "pods" and operation == "UPDATE" and subresource in ("", "resize")

    async def validate(self, request: AdmissionRequest) -> None:
        if not self.is_changed(request):
            return
        needed = list(_needed((request.old or {}).get("spec") or {}, (request.obj or {}).get("spec") or {}))
        if not needed:
            return
        node = await self.node(request)
        declared = (node.get("status") or {}).get("declaredFeatures") or ()
        if missing := [feature for feature in needed if feature not in declared]:
            name = node["metadata"]["name"]
            raise refuse(request, f'pod update requires features {", ".join(missing)} which are not available on node "{name}"')


def _needed(old: Json, new: Json) -> Iterator[str]:
    """The features that a change of a pod takes."""
    if (old.get("resources") or None) != (new.get("resources") or None):
        yield "InPlacePodLevelResourcesVerticalScaling"
    inits = zip(old.get("initContainers") or (), new.get("initContainers") or (), strict=True)
    if any(one.get("restartPolicy") != "Always" and _resources(one) != _resources(other) for one, other in inits):
        yield "InPlacePodVerticalScalingInitContainers"


def _resources(container: Json) -> Json:
    return container.get("resources") or {}
