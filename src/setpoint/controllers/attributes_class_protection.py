"""VolumeAttributesClasses stay while a claim or a volume has them. As `pkg/controller/volume/vacprotection`."""

from __future__ import annotations

from setpoint.api.types.core_v1 import PERSISTENTVOLUMECLAIMS, PERSISTENTVOLUMES, PersistentVolume, PersistentVolumeClaim
from setpoint.api.types.storage_v1 import VOLUMEATTRIBUTESCLASSES, VolumeAttributesClass
from setpoint.client.controller import Controller
from setpoint.controllers.component import Context
from setpoint.controllers.persistent_volume.protection import Plan, Protected, ProtectionReconciler

NAME = "volumeattributesclass-protection-controller"
FINALIZER = "kubernetes.io/vac-protection"
BY_CLASS = "attributes class"


def of_claim(claim: PersistentVolumeClaim) -> list[str]:
    """The classes that a claim asks for, has, or is on its way to. Index function for BY_CLASS."""
    change = claim.status.modify_volume_status
    names = (
        claim.spec.volume_attributes_class_name,
        claim.status.current_volume_attributes_class_name,
        change.target_volume_attributes_class_name if change is not None else None,
    )
    return sorted({name for name in names if name})


def of_volume(volume: PersistentVolume) -> list[str]:
    name = volume.spec.volume_attributes_class_name
    return [name] if name else []


def new(context: Context) -> Controller[Protected, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    classes = context.informers.of(VOLUMEATTRIBUTESCLASSES)
    claims, volumes = context.informers.of(PERSISTENTVOLUMECLAIMS), context.informers.of(PERSISTENTVOLUMES)
    claims.add_index(BY_CLASS, of_claim)
    volumes.add_index(BY_CLASS, of_volume)

    def used(found: VolumeAttributesClass) -> bool:
        name = found.metadata.name
        return bool(claims.store.by_index(BY_CLASS, name) or volumes.store.by_index(BY_CLASS, name))

    reconciler = ProtectionReconciler(context.client, VOLUMEATTRIBUTESCLASSES, classes.store, FINALIZER, used)
    controller: Controller[Protected, Plan] = Controller(
        NAME, reconciler, context.clock, workers=1, informers=(classes, claims, volumes)
    )

    def claim_changed(_: str, old: PersistentVolumeClaim | None, claim: PersistentVolumeClaim | None) -> None:
        for name in set(of_claim(old) if old is not None else ()) - set(of_claim(claim) if claim is not None else ()):
            controller.enqueue(name)

    def volume_changed(_: str, old: PersistentVolume | None, volume: PersistentVolume | None) -> None:
        for name in set(of_volume(old) if old is not None else ()) - set(of_volume(volume) if volume is not None else ()):
            controller.enqueue(name)

    controller.follow(classes)
    claims.on_change(claim_changed)
    volumes.on_change(volume_changed)
    return controller
