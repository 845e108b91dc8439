"""Wiring: which change of which object puts which key into which queue."""

from __future__ import annotations

from collections.abc import Sequence

from setpoint.api.types.core_v1 import (
    PERSISTENTVOLUMECLAIMS,
    PERSISTENTVOLUMES,
    PODS,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
)
from setpoint.api.types.storage_v1 import StorageClass
from setpoint.client.controller import Controller
from setpoint.client.informer import any_of
from setpoint.client.objects import key, key_of
from setpoint.controllers.component import Context, Several
from setpoint.controllers.persistent_volume import binding, volumes
from setpoint.controllers.persistent_volume.caches import is_default, volume_informers
from setpoint.controllers.persistent_volume.matching import class_of
from setpoint.controllers.persistent_volume.protection import (
    BY_CLAIM,
    CLAIM_FINALIZER,
    VOLUME_FINALIZER,
    Plan,
    Protected,
    ProtectionReconciler,
    claims_of,
    is_used,
)

NAME = "persistentvolume-binder-controller"
CLAIM_PROTECTION = "persistentvolumeclaim-protection-controller"
VOLUME_PROTECTION = "persistentvolume-protection-controller"
_RECORDER = "persistentvolume-controller"


class _Binder:
    """The two queues, and what puts keys into them."""

    def __init__(self, context: Context) -> None:
        known = self._known = volume_informers(context.informers)
        self._pods = context.informers.of(PODS)
        self._pods.add_index(BY_CLAIM, claims_of)
        recorder = context.recorder(_RECORDER)
        self.claims: Controller[binding.Observed, binding.Plan] = Controller(
            "claims",
            binding.ClaimReconciler(context.client, known, recorder, self._pods_of),
            context.clock,
            workers=1,
            informers=(*known.all(), self._pods),
        )
        self.volumes: Controller[volumes.Observed, volumes.Plan] = Controller(
            "volumes",
            volumes.VolumeReconciler(context.client, known.volumes.store, known.claims.store, recorder),
            context.clock,
            workers=1,
            informers=(known.claims, known.volumes),
        )
        known.claims.on_change(self._claim_changed)
        known.volumes.on_change(self._volume_changed)
        known.classes.on_change(self._class_changed)
        self._pods.on_change(self._pod_changed)

    def _pods_of(self, claim: str) -> Sequence[Pod]:
        return self._pods.store.by_index(BY_CLAIM, claim)

    def _wake(self, name: str) -> None:
        """Claims of a class that have no volume yet."""
        for claim in self._known.claims.store.list():
            if claim.status.phase == "Pending" and class_of(claim) == name:
                self.claims.enqueue(key_of(claim))

    def _claim_changed(self, _: str, old: PersistentVolumeClaim | None, changed: PersistentVolumeClaim | None) -> None:
        if changed is not None:
            self.claims.enqueue(key_of(changed))
        for one in (old, changed):
            if one is not None and one.spec.volume_name:
                self.volumes.enqueue(one.spec.volume_name)

    def _volume_changed(self, _: str, old: PersistentVolume | None, changed: PersistentVolume | None) -> None:
        volume = any_of(old, changed)
        self.volumes.enqueue(volume.metadata.name)
        ref = volume.spec.claim_ref
        if ref is not None:
            self.claims.enqueue(key(ref.namespace, ref.name))
        elif changed is not None and changed.status.phase == "Available":
            self._wake(class_of(changed))

    def _class_changed(self, _: str, __: StorageClass | None, changed: StorageClass | None) -> None:
        if changed is not None:
            self._wake(changed.metadata.name)
            if is_default(changed):
                self._wake("")

    def _pod_changed(self, _: str, old: Pod | None, pod: Pod | None) -> None:
        """A claim may have waited for its first pod."""
        if old is not None or pod is None or not pod.spec.volumes or pod.spec.node_name:
            return
        for name in claims_of(pod):
            claim = self._known.claims.store.get(name)
            if claim is not None and not claim.spec.volume_name:
                self.claims.enqueue(name)


def new(context: Context) -> Several:
    """The binder: one queue of claims, one of volumes, a worker each."""
    binder = _Binder(context)
    return Several(NAME, (binder.claims, binder.volumes))


def new_claim_protection(context: Context) -> Controller[Protected, Plan]:
    """Claims stay while a pod on a node uses them."""
    claims, pods = context.informers.of(PERSISTENTVOLUMECLAIMS), context.informers.of(PODS)
    pods.add_index(BY_CLAIM, claims_of)

    def used(claim: PersistentVolumeClaim) -> bool:
        return is_used(claim, pods.store.by_index(BY_CLAIM, key_of(claim)))

    reconciler = ProtectionReconciler(context.client, PERSISTENTVOLUMECLAIMS, claims.store, CLAIM_FINALIZER, used)
    controller: Controller[Protected, Plan] = Controller(
        CLAIM_PROTECTION, reconciler, context.clock, workers=1, informers=(claims, pods)
    )

    def pod_changed(_: str, old: Pod | None, changed: Pod | None) -> None:
        if changed is None and old is not None and old.spec.volumes:
            for name in claims_of(old):
                controller.enqueue(name)

    controller.follow(claims)
    pods.on_change(pod_changed)
    return controller


def new_volume_protection(context: Context) -> Controller[Protected, Plan]:
    """Volumes stay while they are bound."""
    volumes = context.informers.of(PERSISTENTVOLUMES)

    def used(volume: PersistentVolume) -> bool:
        return volume.status.phase == "Bound"

    reconciler = ProtectionReconciler(context.client, PERSISTENTVOLUMES, volumes.store, VOLUME_FINALIZER, used)
    controller: Controller[Protected, Plan] = Controller(
        VOLUME_PROTECTION, reconciler, context.clock, workers=1, informers=(volumes,)
    )
    controller.follow(volumes)
    return controller
