"""What is known of claims, volumes and classes: for the binder, and for whoever makes volumes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from setpoint.api.types.core_v1 import PERSISTENTVOLUMECLAIMS, PERSISTENTVOLUMES, PersistentVolume, PersistentVolumeClaim
from setpoint.api.types.storage_v1 import STORAGECLASSES, StorageClass
from setpoint.client.factory import InformerFactory
from setpoint.client.informer import Informer
from setpoint.controllers.persistent_volume.matching import class_of


class VolumeInformers(Struct, frozen=True):
    """Their informers."""

    claims: Informer[PersistentVolumeClaim]
    volumes: Informer[PersistentVolume]
    classes: Informer[StorageClass]

    def all(self) -> Sequence[Informer[Any]]:
        return (self.claims, self.volumes, self.classes)

    def class_of(self, claim: PersistentVolumeClaim) -> StorageClass | None:
        return self.classes.store.get(class_of(claim))


def volume_informers(informers: InformerFactory) -> VolumeInformers:
    return VolumeInformers(informers.of(PERSISTENTVOLUMECLAIMS), informers.of(PERSISTENTVOLUMES), informers.of(STORAGECLASSES))


def claim_reference(claim: PersistentVolumeClaim) -> dict[str, Any]:
    """A volume's `claimRef`: this very claim, as it is."""
    meta = claim.metadata
    return {
        "apiVersion": PERSISTENTVOLUMECLAIMS.api_version,
        "kind": PERSISTENTVOLUMECLAIMS.kind,
        "namespace": meta.namespace,
        "name": meta.name,
        "uid": meta.uid,
        "resourceVersion": meta.resource_version,
    }
