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

_DEFAULT = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


class VolumeInformers(Struct, frozen=True):
    """Their informers."""

    claims: Informer[PersistentVolumeClaim]
    volumes: Informer[PersistentVolume]
    classes: Informer[StorageClass]

    def all(self) -> Sequence[Informer[Any]]:
        return (self.claims, self.volumes, self.classes)

    def class_of(self, claim: PersistentVolumeClaim) -> StorageClass | None:
        return self.classes.store.get(class_of(claim))

    def default_class(self) -> str:
        """The newest of those that are marked as the default, by name among those of one second; empty if none is."""
        marked = [each for each in self.classes.store.list() if is_default(each)]
        marked.sort(key=lambda each: each.metadata.name)
        marked.sort(key=lambda each: each.metadata.creation_timestamp or "", reverse=True)
        return marked[0].metadata.name if marked else ""


def is_default(found: StorageClass) -> bool:
    annotations = found.metadata.annotations or {}
    return any(annotations.get(name) == "true" for name in _DEFAULT)


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
