"""The binder's view of claims: unbound ones look for a volume, bound ones for what became of theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from setpoint.api.types.core_v1 import (
    PERSISTENTVOLUMECLAIMS,
    PERSISTENTVOLUMES,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
)
from setpoint.api.types.storage_v1 import StorageClass
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Result
from setpoint.client.events import EventRecorder
from setpoint.controllers.persistent_volume import matching
from setpoint.controllers.persistent_volume.caches import VolumeInformers, claim_reference
from setpoint.controllers.persistent_volume.matching import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    SELECTED_NODE,
    STORAGE_PROVISIONER,
)

_EXTERNAL = (
    "Waiting for a volume to be created either by the external provisioner '{}' or manually by the system administrator."
    " If volume creation is delayed, please verify that the provisioner is running and correctly registered."
)
#: plugins that Kubernetes has given up for drivers of their makers
_MIGRATED = {
    "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
    "kubernetes.io/azure-disk": "disk.csi.azure.com",
    "kubernetes.io/azure-file": "file.csi.azure.com",
    "kubernetes.io/cinder": "cinder.csi.openstack.org",
    "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
    "kubernetes.io/portworx-volume": "pxd.portworx.com",
    "kubernetes.io/vsphere-volume": "csi.vsphere.vmware.com",
}
_LOST = "Bound claim has lost {}. Data on the volume is lost!"


class Observed(Struct, frozen=True):
    """A claim, all volumes, and the claim's class (None: there is no such class).

    `default_class` is the one for claims that name none, empty for none; `pods` are those that have the claim and no node.
    """

    claim: PersistentVolumeClaim
    volumes: Sequence[PersistentVolume]
    storage_class: StorageClass | None
    default_class: str = ""
    pods: Sequence[str] = ()


class Plan(Struct, frozen=True):
    """Bind to `volume`, or set the phase; `event` is (type, reason, message); `provisioner` is asked for a volume.

    `assign` is the class to give the claim, before anything else is done.
    """

    claim: PersistentVolumeClaim
    volume: PersistentVolume | None = None
    phase: str = ""
    event: tuple[str, str, str] | None = None
    provisioner: str = ""
    assign: str = ""


def diff(observed: Observed) -> Plan | None:
    """Pure."""
    claim = observed.claim
    if BIND_COMPLETED in (claim.metadata.annotations or {}):
        return _bound(observed)
    if claim.metadata.deletion_timestamp:
        return None
    return _named(observed) if claim.spec.volume_name else _unbound(observed)


def _bound(observed: Observed) -> Plan | None:
    claim = observed.claim
    if not claim.spec.volume_name:
        return _lost(claim, "ClaimLost", _LOST.format("reference to PersistentVolume"))
    volume = _volume(observed)
    if volume is None:
        return _lost(claim, "ClaimLost", _LOST.format("its PersistentVolume"))
    ref = volume.spec.claim_ref
    if ref is None or ref.uid == claim.metadata.uid:
        return None if _is_settled(claim, volume) else Plan(claim, volume)
    return _lost(claim, "ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly")


def _lost(claim: PersistentVolumeClaim, reason: str, message: str) -> Plan | None:
    return None if claim.status.phase == "Lost" else Plan(claim, phase="Lost", event=("Warning", reason, message))


def _is_settled(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    status = claim.status
    return (
        volume.spec.claim_ref is not None
        and volume.status.phase == "Bound"
        and status.phase == "Bound"
        and set(status.access_modes) == set(volume.spec.access_modes)
    )


def _volume(observed: Observed) -> PersistentVolume | None:
    name = observed.claim.spec.volume_name
    return next((volume for volume in observed.volumes if volume.metadata.name == name), None)


def _named(observed: Observed) -> Plan | None:
    """The user has chosen a volume."""
    claim, volume = observed.claim, _volume(observed)
    if volume is None:
        return _pending(claim)
    if volume.spec.claim_ref is not None:
        if matching.is_for(volume, claim):
            return Plan(claim, volume)
        told = f'volume "{volume.metadata.name}" already bound to a different claim.'
        return Plan(claim, phase="Pending", event=("Warning", "FailedBinding", told))
    why = matching.mismatch(volume, claim)
    if not why:
        return Plan(claim, volume)
    message = f'Cannot bind to requested volume "{volume.metadata.name}": {why}'
    return Plan(claim, phase="Pending", event=("Warning", "VolumeMismatch", message))


def _pending(claim: PersistentVolumeClaim) -> Plan | None:
    return None if claim.status.phase == "Pending" else Plan(claim, phase="Pending")


def _unbound(observed: Observed) -> Plan:
    claim, storage_class = observed.claim, observed.storage_class
    waits = storage_class is not None and storage_class.volume_binding_mode == "WaitForFirstConsumer"
    volume = matching.find(claim, observed.volumes, reserved_only=waits)
    if volume is not None:
        return Plan(claim, volume)
    if observed.default_class and not matching.has_class(claim):
        return Plan(claim, assign=observed.default_class)
    if waits and SELECTED_NODE not in (claim.metadata.annotations or {}):
        return Plan(claim, phase="Pending", event=_waits(observed.pods))
    name = matching.class_of(claim)
    if not name:
        message = "no persistent volumes available for this claim and no storage class is set"
        return Plan(claim, phase="Pending", event=("Normal", "FailedBinding", message))
    if storage_class is None:
        message = f'storageclass.storage.k8s.io "{name}" not found'
        return Plan(claim, phase="Pending", event=("Warning", "ProvisioningFailed", message))
    provisioner = _MIGRATED.get(storage_class.provisioner, storage_class.provisioner)
    if provisioner.startswith("kubernetes.io/"):
        message = f"no volume plugin matched name: {provisioner}"
        return Plan(claim, phase="Pending", event=("Warning", "ProvisioningFailed", message))
    event = ("Normal", "ExternalProvisioning", _EXTERNAL.format(provisioner))
    return Plan(claim, phase="Pending", event=event, provisioner=provisioner)


def _waits(pods: Sequence[str]) -> tuple[str, str, str]:
    """The event of a claim that is bound when its pod has a node."""
    if not pods:
        return "Normal", "WaitForFirstConsumer", "waiting for first consumer to be created before binding"
    names = f"pods {','.join(pods)}" if len(pods) > 1 else f"pod {pods[0]}"
    return "Normal", "WaitForPodScheduled", f"waiting for {names} to be scheduled"


class ClaimReconciler:
    """Keys are claims. `pods` gives the pods of a claim by its key."""

    def __init__(
        self,
        client: ClientProtocol,
        known: VolumeInformers,
        recorder: EventRecorder,
        pods: Callable[[str], Sequence[Pod]],
    ) -> None:
        self._client = client
        self._known = known
        self._recorder = recorder
        self._pods = pods

    def observe(self, key: str) -> Observed | None:
        claim = self._known.claims.store.get(key)
        if claim is None:
            return None
        default = "" if claim.spec.volume_name or matching.has_class(claim) else self._known.default_class()
        pods = [pod.metadata.name for pod in self._pods(key) if not pod.spec.node_name] if not claim.spec.volume_name else []
        return Observed(claim, self._known.volumes.store.list(), self._known.class_of(claim), default, pods)

    def diff(self, observed: Observed) -> Plan | None:
        return diff(observed)

    async def act(self, plan: Plan) -> Result | None:
        claim = plan.claim
        if plan.assign:
            await self._patch_claim(claim, {"spec": {"storageClassName": plan.assign}})
            return None
        if plan.volume is not None:
            await self._bind(claim, plan.volume)
        elif plan.phase != claim.status.phase or claim.status.capacity or claim.status.access_modes:
            nothing = dict.fromkeys(("accessModes", "capacity", "currentVolumeAttributesClassName"))
            await self._patch_claim(claim, {"status": {"phase": plan.phase, **nothing}}, subresource="status")
        if plan.provisioner and STORAGE_PROVISIONER[1] not in (claim.metadata.annotations or {}):
            annotations = dict.fromkeys(STORAGE_PROVISIONER, plan.provisioner)
            await self._patch_claim(claim, {"metadata": {"annotations": annotations}})
        if plan.event is not None:
            self._recorder.event(claim, *plan.event)
        return None

    async def _bind(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> None:
        """The volume first, then the claim: the volume's reference is what decides between two claims."""
        patch = _volume_patch(claim, volume)
        if patch is not None:
            await self._client.patch(PERSISTENTVOLUMES, volume.metadata.name, patch)
        if volume.status.phase != "Bound":
            body = {"status": {"phase": "Bound", "message": None, "reason": None}}
            await self._client.patch(PERSISTENTVOLUMES, volume.metadata.name, body, subresource="status")
        claim_patch = _claim_patch(claim, volume)
        if claim_patch is not None:
            await self._patch_claim(claim, claim_patch)
        status: dict[str, Any] = {"phase": "Bound", "accessModes": list(volume.spec.access_modes)}
        if claim.status.phase != "Bound":  # later it may rightly differ from the volume's: a file system grows after its device
            status["capacity"] = dict(volume.spec.capacity or {})
            if volume.spec.volume_attributes_class_name:
                status["currentVolumeAttributesClassName"] = volume.spec.volume_attributes_class_name
        await self._patch_claim(claim, {"status": status}, subresource="status")

    async def _patch_claim(self, claim: PersistentVolumeClaim, body: dict[str, Any], *, subresource: str = "") -> None:
        meta = claim.metadata
        await self._client.patch(PERSISTENTVOLUMECLAIMS, meta.name, body, meta.namespace, subresource=subresource)


def _volume_patch(claim: PersistentVolumeClaim, volume: PersistentVolume) -> dict[str, Any] | None:
    """Valid for the volume that was seen only: another claim may have been faster."""
    ref = volume.spec.claim_ref
    if ref is not None and ref.uid == claim.metadata.uid:
        return None
    metadata: dict[str, Any] = {"resourceVersion": volume.metadata.resource_version}
    if ref is None:
        metadata["annotations"] = {BOUND_BY_CONTROLLER: "yes"}
    return {"metadata": metadata, "spec": {"claimRef": claim_reference(claim)}}


def _claim_patch(claim: PersistentVolumeClaim, volume: PersistentVolume) -> dict[str, Any] | None:
    annotations = claim.metadata.annotations or {}
    if BIND_COMPLETED in annotations and claim.spec.volume_name == volume.metadata.name:
        return None
    added = {BIND_COMPLETED: "yes"}
    if not claim.spec.volume_name:
        added[BOUND_BY_CONTROLLER] = "yes"
    return {"metadata": {"uid": claim.metadata.uid, "annotations": added}, "spec": {"volumeName": volume.metadata.name}}
