"""A pod gets the zone and the region of its node as labels, when it is bound or created with a node.

Source: `plugin/pkg/admission/podtopologylabels` (KEP-4742). A node that is not there is nobody's fault here.
"""

from __future__ import annotations

from setpoint.registry.admission.chain import BaseStep
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.strategy import Object

COPIED = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")


class PodTopologyLabels(BaseStep):
    """See the module."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return group_resource == "pods" and operation == "CREATE" and subresource in ("", "binding")

    async def admit(self, request: AdmissionRequest) -> None:
        obj = request.obj or {}
        name = _node_of(obj, request.subresource)
        node = await self._reader.get("nodes", "", name) if name else None
        labels = ((node or {}).get("metadata") or {}).get("labels") or {}
        copied = {key: labels[key] for key in COPIED if key in labels}
        if copied:
            metadata = obj["metadata"]
            metadata["labels"] = {**(metadata.get("labels") or {}), **copied}


def _node_of(obj: Object, subresource: str) -> str:
    """The node that a Binding or a pod names."""
    if not subresource:
        return str((obj.get("spec") or {}).get("nodeName") or "")
    target = obj.get("target") or {}
    return str(target.get("name") or "") if target.get("kind") == "Node" else ""
