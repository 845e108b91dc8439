"""Which volume suits a claim. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from setpoint.api.machinery.quantity import ZERO, Quantity, parse
from setpoint.api.types.core_v1 import PersistentVolume, PersistentVolumeClaim
from setpoint.controllers.claims import matches, selector_of

BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
#: who is asked for a volume, first as it was called before
STORAGE_PROVISIONER = ("volume.beta.kubernetes.io/storage-provisioner", "volume.kubernetes.io/storage-provisioner")
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"


def class_of(obj: PersistentVolume | PersistentVolumeClaim) -> str:
    """The storage class: by the old annotation or the field; empty for none."""
    annotation = (obj.metadata.annotations or {}).get(BETA_CLASS)
    return annotation if annotation is not None else obj.spec.storage_class_name or ""


def has_class(claim: PersistentVolumeClaim) -> bool:
    """Whether the claim says anything of its class, be it that it wants none."""
    return BETA_CLASS in (claim.metadata.annotations or {}) or claim.spec.storage_class_name is not None


def is_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether the volume is reserved for this claim, or bound to it."""
    ref = volume.spec.claim_ref
    if ref is None or (ref.namespace, ref.name) != (claim.metadata.namespace, claim.metadata.name):
        return False
    return not ref.uid or ref.uid == claim.metadata.uid


def storage(amounts: Mapping[str, str] | None, name: str = "storage") -> Quantity:
    """How much of it; nothing where it is not said."""
    value = (amounts or {}).get(name)
    return ZERO if value is None else parse(str(value))


def mismatch(volume: PersistentVolume, claim: PersistentVolumeClaim) -> str:
    """Why a volume that the claim names cannot be its own; empty if it can."""
    if storage(volume.spec.capacity) < storage(claim.spec.resources.requests):
        return "requested PV is too small"
    if class_of(volume) != class_of(claim):
        return "storageClassName does not match"
    if (volume.spec.volume_mode or "Filesystem") != (claim.spec.volume_mode or "Filesystem"):
        return "incompatible volumeMode"
    if not set(claim.spec.access_modes) <= set(volume.spec.access_modes):
        return "incompatible accessMode"
    if (volume.spec.volume_attributes_class_name or "") != (claim.spec.volume_attributes_class_name or ""):
        return "volumeAttributesClassName does not match"
    return ""


def find(claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume], *, reserved_only: bool) -> PersistentVolume | None:
    """A volume reserved for the claim, else the smallest free one that suits it, among those of the fewest access modes.

    `reserved_only`: the class waits for a pod, so that nothing is chosen yet.
    """
    wanted = set(claim.spec.access_modes)
    by_modes: dict[tuple[str, ...], list[PersistentVolume]] = {}
    for volume in sorted(volumes, key=lambda one: one.metadata.name):
        if wanted <= set(volume.spec.access_modes):
            by_modes.setdefault(tuple(sorted(set(volume.spec.access_modes))), []).append(volume)
    for modes in sorted(by_modes, key=lambda modes: (len(modes), modes)):
        if (found := _among(claim, by_modes[modes], reserved_only=reserved_only)) is not None:
            return found
    return None


def _among(claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume], *, reserved_only: bool) -> PersistentVolume | None:
    """As `FindMatchingVolume`: who reserves a volume has chosen its class and attributes himself."""
    best: PersistentVolume | None = None
    selector = None if claim.spec.selector is None else selector_of(claim.spec.selector)
    for volume in volumes:
        if volume.metadata.deletion_timestamp or not _fits(volume, claim):
            continue
        if is_for(volume, claim):
            return volume
        if reserved_only or volume.spec.claim_ref is not None or volume.status.phase != "Available":
            continue
        if mismatch(volume, claim) or (selector is not None and not matches(selector, volume)):
            continue
        if best is None or storage(volume.spec.capacity) < storage(best.spec.capacity):
            best = volume
    return best


def _fits(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    large = storage(volume.spec.capacity) >= storage(claim.spec.resources.requests)
    return large and (volume.spec.volume_mode or "Filesystem") == (claim.spec.volume_mode or "Filesystem")
