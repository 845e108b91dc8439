"""Claims that ask for more than they have: told that somebody else has to make their volume larger.

As `pkg/controller/volume/expand` without plugins of its own, of which Kubernetes has none left.
"""

from __future__ import annotations

from msgspec import Struct

from setpoint.api.types.core_v1 import PERSISTENTVOLUMECLAIMS, PERSISTENTVOLUMES, PersistentVolume, PersistentVolumeClaim
from setpoint.client.controller import Controller, Result
from setpoint.client.events import EventRecorder
from setpoint.client.objects import key_of
from setpoint.client.store import Store
from setpoint.controllers.component import Context
from setpoint.controllers.persistent_volume.matching import storage

NAME = "persistentvolume-expander-controller"
_RECORDER = "volume_expand"
_MESSAGE = "waiting for an external controller to expand this PVC"


class Observed(Struct, frozen=True):
    """A claim and its volume."""

    claim: PersistentVolumeClaim
    volume: PersistentVolume


def diff(observed: Observed) -> PersistentVolumeClaim | None:
    """The claim, if its volume is to grow. Pure."""
    claim, ref = observed.claim, observed.volume.spec.claim_ref
    if ref is None or ref.uid != claim.metadata.uid:
        return None
    return claim if storage(claim.spec.resources.requests) > storage(claim.status.capacity) else None


class ExpandReconciler:
    """Keys are claims."""

    def __init__(self, claims: Store[PersistentVolumeClaim], volumes: Store[PersistentVolume], recorder: EventRecorder) -> None:
        self._claims = claims
        self._volumes = volumes
        self._recorder = recorder

    def observe(self, name: str) -> Observed | None:
        claim = self._claims.get(name)
        volume = self._volumes.get(claim.spec.volume_name) if claim is not None and claim.spec.volume_name else None
        return None if claim is None or volume is None else Observed(claim, volume)

    def diff(self, observed: Observed) -> PersistentVolumeClaim | None:
        return diff(observed)

    async def act(self, plan: PersistentVolumeClaim) -> Result | None:
        self._recorder.event(plan, "Normal", "ExternalExpanding", _MESSAGE)
        return None


def new(context: Context) -> Controller[Observed, PersistentVolumeClaim]:
    """The controller, its handlers registered; nothing runs yet."""
    claims, volumes = context.informers.of(PERSISTENTVOLUMECLAIMS), context.informers.of(PERSISTENTVOLUMES)
    reconciler = ExpandReconciler(claims.store, volumes.store, context.recorder(_RECORDER))
    controller: Controller[Observed, PersistentVolumeClaim] = Controller(
        NAME, reconciler, context.clock, workers=1, informers=(claims, volumes)
    )

    def changed(_: str, old: PersistentVolumeClaim | None, claim: PersistentVolumeClaim | None) -> None:
        """More is asked for than before, or more was got."""
        if old is None or claim is None:
            return
        asks = storage(claim.spec.resources.requests) > storage(old.spec.resources.requests)
        if asks or storage(claim.status.capacity) > storage(old.status.capacity):
            controller.enqueue(key_of(claim))

    claims.on_change(changed)
    return controller
