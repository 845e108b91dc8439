"""The binder's view of volumes: free, bound, or released by a claim that is gone."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import PERSISTENTVOLUMES, PersistentVolume, PersistentVolumeClaim
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Result
from setpoint.client.events import EventRecorder
from setpoint.client.objects import key
from setpoint.client.store import Store
from setpoint.controllers.persistent_volume.matching import BOUND_BY_CONTROLLER

_PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
_DELETABLE = re.compile(r"^/tmp/.+$")


class Observed(Struct, frozen=True):
    """A volume, and the claim that it refers to if that exists."""

    volume: PersistentVolume
    claim: PersistentVolumeClaim | None


class Plan(Struct, frozen=True):
    """The phase to set, with a message; `unbind` frees the volume, `delete` ends it. `event` is (reason, message)."""

    volume: PersistentVolume
    phase: str
    message: str = ""
    unbind: bool = False
    delete: bool = False
    event: tuple[str, str] | None = None


def diff(observed: Observed) -> Plan | None:
    """Pure."""
    volume, claim = observed.volume, observed.claim
    ref = volume.spec.claim_ref
    if ref is None or not ref.uid:
        return _phase(volume, "Available")
    if claim is None:
        return _released(volume)
    if claim.spec.volume_name == volume.metadata.name:
        return _phase(volume, "Bound")
    if not claim.spec.volume_name:
        return None  # the claim's turn
    if _PROVISIONED_BY in (volume.metadata.annotations or {}) and volume.spec.persistent_volume_reclaim_policy == "Delete":
        return _released(volume)  # it was made for a claim that took another
    return Plan(volume, "Available", unbind=True)


def _phase(volume: PersistentVolume, phase: str) -> Plan | None:
    return None if volume.status.phase == phase else Plan(volume, phase)


def _released(volume: PersistentVolume) -> Plan | None:
    if volume.status.phase not in {"Released", "Failed"}:
        return Plan(volume, "Released")
    policy = volume.spec.persistent_volume_reclaim_policy
    if policy == "Recycle" and volume.spec.host_path is None and volume.spec.nfs is None:
        return _failed(volume, "VolumeFailedRecycle", "No recycler plugin found for the volume!")
    if policy != "Delete" or volume.metadata.deletion_timestamp:
        return None
    if _of_others(volume) or volume.status.phase == "Failed":
        return None  # its provisioner deletes it; what failed once is tried again when it changes
    path = volume.spec.host_path.path if volume.spec.host_path is not None else ""
    if path and _DELETABLE.match(path):
        return Plan(volume, volume.status.phase, delete=True)
    return _failed(volume, "VolumeFailedDelete", _why_not_deleted(volume, path))


def _why_not_deleted(volume: PersistentVolume, path: str) -> str:
    """Kubernetes has plugins for host paths and NFS, and the latter does not delete; drivers (CSI) delete what they have made."""
    if path:
        return f"host_path deleter only supports /tmp/.+ but received provided {path}"
    lacking = "no deletable volume plugin matched" if volume.spec.nfs is not None else "no volume plugin matched"
    return f'error getting deleter volume plugin for volume "{volume.metadata.name}": {lacking}'


def _failed(volume: PersistentVolume, reason: str, why: str) -> Plan | None:
    return None if volume.status.phase == "Failed" else Plan(volume, "Failed", message=why, event=(reason, why))


def _of_others(volume: PersistentVolume) -> bool:
    """Whether a provisioner outside of the cluster's own made the volume."""
    maker = (volume.metadata.annotations or {}).get(_PROVISIONED_BY, "")
    return bool(maker) and not maker.startswith("kubernetes.io/")


class VolumeReconciler:
    """Keys are volumes."""

    def __init__(
        self,
        client: ClientProtocol,
        volumes: Store[PersistentVolume],
        claims: Store[PersistentVolumeClaim],
        recorder: EventRecorder,
    ) -> None:
        self._client = client
        self._volumes = volumes
        self._claims = claims
        self._recorder = recorder

    def observe(self, name: str) -> Observed | None:
        volume = self._volumes.get(name)
        if volume is None:
            return None
        ref = volume.spec.claim_ref
        claim = None if ref is None else self._claims.get(key(ref.namespace, ref.name))
        if claim is not None and ref is not None and ref.uid and claim.metadata.uid != ref.uid:
            claim = None
        return Observed(volume, claim)

    def diff(self, observed: Observed) -> Plan | None:
        return diff(observed)

    async def act(self, plan: Plan) -> Result | None:
        meta = plan.volume.metadata
        if plan.delete:
            await self._delete(plan.volume)
            return None
        if plan.unbind:
            await self._client.patch(PERSISTENTVOLUMES, meta.name, _unbound(plan.volume))
        body = {"status": {"phase": plan.phase, "message": plan.message or None}}
        await self._client.patch(PERSISTENTVOLUMES, meta.name, body, subresource="status")
        if plan.event is not None:
            self._recorder.event(plan.volume, "Warning", *plan.event)
        return None

    async def _delete(self, volume: PersistentVolume) -> None:
        try:
            await self._client.delete(PERSISTENTVOLUMES, volume.metadata.name, uid=volume.metadata.uid)
        except StatusError as error:
            if error.reason != "NotFound":
                raise


def _unbound(volume: PersistentVolume) -> dict[str, Any]:
    """What the controller bound it frees; a reservation by the user stays one."""
    metadata: dict[str, Any] = {"resourceVersion": volume.metadata.resource_version}
    if BOUND_BY_CONTROLLER in (volume.metadata.annotations or {}):
        metadata["annotations"] = {BOUND_BY_CONTROLLER: None}
        return {"metadata": metadata, "spec": {"claimRef": None}}
    return {"metadata": metadata, "spec": {"claimRef": {"uid": None}}}
