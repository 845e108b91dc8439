"""Claims, volumes and their classes of attributes get the finalizer that keeps them while they are used.

Source: `plugin/pkg/admission/storage/storageobjectinuseprotection`.
"""

from __future__ import annotations

from setpoint.registry.admission.chain import BaseStep
from setpoint.registry.admission.request import AdmissionRequest

_FINALIZERS = {
    "persistentvolumeclaims": "kubernetes.io/pvc-protection",
    "persistentvolumes": "kubernetes.io/pv-protection",
    "volumeattributesclasses.storage.k8s.io": "kubernetes.io/vac-protection",
}


class StorageObjectInUseProtection(BaseStep):
    """Adds the finalizer."""

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return group_resource in _FINALIZERS and operation == "CREATE" and not subresource

    async def admit(self, request: AdmissionRequest) -> None:
        if request.obj is None:
            return
        metadata = request.obj["metadata"]
        finalizer = _FINALIZERS[request.resource.group_resource]
        present = metadata.get("finalizers") or []
        if finalizer not in present:
            metadata["finalizers"] = [*present, finalizer]
