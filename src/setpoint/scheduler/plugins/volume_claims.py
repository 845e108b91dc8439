"""Claims and volumes as the volume plugins see them: which claims a pod has, what is bound, what a volume asks of a node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.quantity import ZERO, Quantity, parse
from setpoint.api.types.core_v1 import (
    PERSISTENTVOLUMECLAIMS,
    PERSISTENTVOLUMES,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
)
from setpoint.api.types.storage_v1 import STORAGECLASSES, StorageClass
from setpoint.client.node_selectors import term_matches
from setpoint.scheduler.framework import Listers
from setpoint.scheduler.pod_terms import selector_of
from setpoint.scheduler.pods import ClaimName, claim_names
from setpoint.scheduler.status import Status, unresolvable

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
ONE_POD = "ReadWriteOncePod"


class ClaimError(Exception):
    """A pod's claim cannot be used; the text is Kubernetes' own."""

    @property
    def status(self) -> Status:
        return unresolvable(str(self))


class Volumes(Struct, frozen=True):
    """The listers of claims, volumes and classes."""

    claims: Any
    volumes: Any
    classes: Any

    def claim(self, pod: Pod, name: ClaimName) -> PersistentVolumeClaim:
        """A claim that a pod names; ClaimError if it cannot be used."""
        found: PersistentVolumeClaim | None = self.claims.get(f"{pod.metadata.namespace}/{name.claim}")
        if found is None and name.ephemeral:
            text = f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name.claim}"'
            raise ClaimError(text)
        if found is None:
            raise ClaimError(f'persistentvolumeclaim "{name.claim}" not found')
        return found

    def claims_of(self, pod: Pod) -> list[PersistentVolumeClaim]:
        """The pod's claims, all of which can be used, or a ClaimError for the first that cannot."""
        return [self._usable(pod, name) for name in claim_names(pod)]

    def _usable(self, pod: Pod, name: ClaimName) -> PersistentVolumeClaim:
        found = self.claim(pod, name)
        if found.status.phase == "Lost":
            volume = found.spec.volume_name
            raise ClaimError(f'persistentvolumeclaim "{name.claim}" bound to non-existent persistentvolume "{volume}"')
        if found.metadata.deletion_timestamp is not None:
            raise ClaimError(f'persistentvolumeclaim "{name.claim}" is being deleted')
        if name.ephemeral and not _is_owned(found, pod):
            meta = pod.metadata
            where = f"PVC {meta.namespace}/{name.claim} was not created for pod {meta.namespace}/{meta.name}"
            raise ClaimError(f"{where} (pod is not owner)")
        return found

    def volume(self, name: str) -> PersistentVolume | None:
        found: PersistentVolume | None = self.volumes.get(name)
        return found

    def storage_class(self, name: str) -> StorageClass | None:
        found: StorageClass | None = self.classes.get(name) if name else None
        return found

    def waits_for_pod(self, claim: PersistentVolumeClaim) -> bool:
        """The claim is to be bound where its pod goes."""
        storage_class = self.storage_class(class_of(claim))
        return storage_class is not None and storage_class.volume_binding_mode == "WaitForFirstConsumer"


def volumes_of(listers: Listers) -> Volumes:
    return Volumes(listers.of(PERSISTENTVOLUMECLAIMS), listers.of(PERSISTENTVOLUMES), listers.of(STORAGECLASSES))


def _is_owned(claim: PersistentVolumeClaim, pod: Pod) -> bool:
    return any(each.controller and each.uid == pod.metadata.uid for each in claim.metadata.owner_references)


def class_of(obj: PersistentVolume | PersistentVolumeClaim) -> str:
    """The storage class, by the old annotation or the field; empty for none."""
    annotated = obj.metadata.annotations.get(_BETA_CLASS)
    return annotated if annotated is not None else obj.spec.storage_class_name or ""


def is_bound(claim: PersistentVolumeClaim) -> bool:
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.metadata.annotations


def reaches(volume: PersistentVolume, node: Node) -> bool:
    """The volume can be used on the node."""
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return True
    return any(term_matches(term, node) for term in affinity.required.node_selector_terms or ())


def size_of(amounts: Mapping[str, Any]) -> Quantity:
    value = amounts.get("storage")
    return ZERO if value is None else parse(str(value))


def requested(claim: PersistentVolumeClaim) -> Quantity:
    return size_of(claim.spec.resources.requests)


def _is_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    ref = volume.spec.claim_ref
    if ref is None or (ref.namespace, ref.name) != (claim.metadata.namespace, claim.metadata.name):
        return False
    return not ref.uid or ref.uid == claim.metadata.uid


def _suits(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Class, mode and size are what the claim asks for."""
    want, have = claim.spec, volume.spec
    return (
        volume.metadata.deletion_timestamp is None
        and class_of(volume) == class_of(claim)
        and (have.volume_mode or "Filesystem") == (want.volume_mode or "Filesystem")
        and (have.volume_attributes_class_name or "") == (want.volume_attributes_class_name or "")
        and size_of(have.capacity) >= requested(claim)
    )


def find_volume(
    claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume], node: Node, taken: Iterable[str]
) -> PersistentVolume | None:
    """A volume reserved for the claim, else the smallest free one on the node that suits it and is not taken.

    A reserved one is not asked for its access modes, and when it cannot be reached from the node no other takes its place.
    """
    best: PersistentVolume | None = None
    selector = None if claim.spec.selector is None else selector_of(claim.spec.selector)
    for volume in volumes:
        if volume.metadata.name in taken or not _suits(volume, claim):
            continue
        if _is_for(volume, claim):
            return volume if reaches(volume, node) else None
        if volume.spec.claim_ref is not None or volume.status.phase != "Available" or not reaches(volume, node):
            continue
        if selector is not None and not selector.matches(volume.metadata.labels):
            continue
        if not set(claim.spec.access_modes) <= set(volume.spec.access_modes):
            continue
        if best is None or size_of(volume.spec.capacity) < size_of(best.spec.capacity):
            best = volume
    return best


def by_size(claims: Iterable[PersistentVolumeClaim]) -> Sequence[PersistentVolumeClaim]:
    """The small ones first: they leave the large volumes to the others."""
    return sorted(claims, key=requested)
