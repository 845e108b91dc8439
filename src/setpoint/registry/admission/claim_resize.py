"""A claim may ask for more only while it is bound, and where its class can give it.

Source: `plugin/pkg/admission/storage/persistentvolume/resize`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.quantity import Quantity
from setpoint.registry.admission.chain import BaseStep, refuse
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.pod.aggregate import amounts

_NOT_GROWABLE = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"


class PersistentVolumeClaimResize(BaseStep):
    """Looks at updates that raise the request for storage."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return group_resource == "persistentvolumeclaims" and operation == "UPDATE" and not subresource

    async def validate(self, request: AdmissionRequest) -> None:
        obj, old = request.obj or {}, request.old or {}
        if _storage(obj) <= _storage(old):
            return
        if (old.get("status") or {}).get("phase") != "Bound":
            raise refuse(request, "Only bound persistent volume claims can be expanded")
        if not await self._growable(_class(obj), _class(old)):
            raise refuse(request, _NOT_GROWABLE)

    async def _growable(self, name: str, old_name: str) -> bool:
        if not name or name != old_name:
            return False
        found = await self._reader.get("storageclasses.storage.k8s.io", "", name)
        return bool((found or {}).get("allowVolumeExpansion"))


def _storage(claim: Mapping[str, Any]) -> Quantity:
    return amounts((claim.get("spec") or {}).get("resources"), "requests").get("storage", Quantity(0))


def _class(claim: Mapping[str, Any]) -> str:
    old_way = ((claim.get("metadata") or {}).get("annotations") or {}).get("volume.beta.kubernetes.io/storage-class")
    return old_way if old_way is not None else str((claim.get("spec") or {}).get("storageClassName") or "")
