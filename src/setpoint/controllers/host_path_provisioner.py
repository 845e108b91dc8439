"""Volumes for claims of the storage class `standard`: directories on the node that the pod was placed on.

What `local-path` is in kind: the class waits for a pod, the volume stays on that pod's node, and goes with its claim. Directories
lie below one root in the data directory; nodes on this machine share it, others have their own. A node makes a directory that it
does not find; deletion removes those of this machine.
Source of the conduct and of the events: sig-storage-lib-external-provisioner.
"""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import (
    PERSISTENTVOLUMES,
    PersistentVolume,
    PersistentVolumeClaim,
)
from setpoint.api.types.storage_v1 import StorageClass
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.events import EventRecorder
from setpoint.client.objects import key, key_of
from setpoint.client.store import Store
from setpoint.controllers.component import Context, Several
from setpoint.controllers.persistent_volume.caches import VolumeInformers, claim_reference, volume_informers
from setpoint.controllers.persistent_volume.matching import SELECTED_NODE, STORAGE_PROVISIONER, class_of

NAME = "host-path-provisioner"
PROVISIONER = "setpoint/host-path"
_PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
_HOSTNAME = "kubernetes.io/hostname"
_MODES = frozenset({"ReadWriteOnce", "ReadWriteOncePod"})


class Observed(Struct, frozen=True):
    """A claim, its class, and the volume that was made for it, if it was."""

    claim: PersistentVolumeClaim
    storage_class: StorageClass | None
    made: PersistentVolume | None


class Plan(Struct, frozen=True):
    """Make a volume on `node`, or tell why that cannot be."""

    claim: PersistentVolumeClaim
    storage_class: StorageClass
    node: str
    refusal: str = ""


def volume_name(claim: PersistentVolumeClaim) -> str:
    return f"pvc-{claim.metadata.uid}"


def is_asked(claim: PersistentVolumeClaim) -> bool:
    """Whether the claim waits for a volume from here."""
    annotations = claim.metadata.annotations or {}
    asked = any(annotations.get(name) == PROVISIONER for name in STORAGE_PROVISIONER)
    return asked and not claim.spec.volume_name and not claim.metadata.deletion_timestamp


def diff(observed: Observed) -> Plan | None:
    """Pure."""
    claim, storage_class = observed.claim, observed.storage_class
    if not is_asked(claim) or observed.made is not None or storage_class is None or storage_class.provisioner != PROVISIONER:
        return None
    node = (claim.metadata.annotations or {}).get(SELECTED_NODE, "")
    if not node and storage_class.volume_binding_mode == "WaitForFirstConsumer":
        return None
    return Plan(claim, storage_class, node, _refusal(claim, node))


def _refusal(claim: PersistentVolumeClaim, node: str) -> str:
    """What a directory of a node cannot be."""
    if not node:
        return "configuration error, no node was specified"
    if claim.spec.selector is not None:
        return "claim.Spec.Selector is not supported"
    if claim.spec.volume_mode == "Block":
        return "block volume is not supported"
    if not set(claim.spec.access_modes) <= _MODES:
        return "NodePath only supports ReadWriteOnce and ReadWriteOncePod (1.22+) access modes"
    return ""


def body(plan: Plan, path: Path) -> dict[str, Any]:
    """The volume for the claim of a plan, in the directory `path`."""
    claim, storage_class = plan.claim, plan.storage_class
    on_node = {"matchExpressions": [{"key": _HOSTNAME, "operator": "In", "values": [plan.node]}]}
    spec: dict[str, Any] = {
        "capacity": {"storage": (claim.spec.resources.requests or {}).get("storage", "0")},
        "accessModes": list(claim.spec.access_modes),
        "persistentVolumeReclaimPolicy": storage_class.reclaim_policy or "Delete",
        "storageClassName": class_of(claim),
        "volumeMode": "Filesystem",
        "hostPath": {"path": str(path), "type": "DirectoryOrCreate"},
        "claimRef": claim_reference(claim),
        "nodeAffinity": {"required": {"nodeSelectorTerms": [on_node]}},
    }
    if storage_class.mount_options:
        spec["mountOptions"] = list(storage_class.mount_options)
    return {"metadata": {"name": volume_name(claim), "annotations": {_PROVISIONED_BY: PROVISIONER}}, "spec": spec}


class ClaimReconciler:
    """Keys are claims."""

    def __init__(self, client: ClientProtocol, known: VolumeInformers, recorder: EventRecorder, root: Path) -> None:
        self._client = client
        self._known = known
        self._recorder = recorder
        self._root = root

    def observe(self, name: str) -> Observed | None:
        claim = self._known.claims.store.get(name)
        if claim is None:
            return None
        return Observed(claim, self._known.class_of(claim), self._known.volumes.store.get(volume_name(claim)))

    def diff(self, observed: Observed) -> Plan | None:
        return diff(observed)

    async def act(self, plan: Plan) -> Result | None:
        meta, name = plan.claim.metadata, volume_name(plan.claim)
        shown = f"{meta.namespace}/{meta.name}"
        self._tell(plan, "Normal", "Provisioning", f'External provisioner is provisioning volume for claim "{shown}"')
        if plan.refusal:
            why = f'failed to provision volume with StorageClass "{plan.storage_class.metadata.name}": {plan.refusal}'
            self._tell(plan, "Warning", "ProvisioningFailed", why)
            return None
        path = self._root / f"{name}_{meta.namespace}_{meta.name}"
        await asyncio.to_thread(_make, path)
        try:
            await self._client.create(PERSISTENTVOLUMES, body(plan, path))
        except StatusError as error:
            if error.reason != "AlreadyExists":  # made before the cache shows it
                raise
        self._tell(plan, "Normal", "ProvisioningSucceeded", f"Successfully provisioned volume {name}")
        return None

    def _tell(self, plan: Plan, kind: str, reason: str, message: str) -> None:
        self._recorder.event(plan.claim, kind, reason, message)


def _make(path: Path) -> None:
    """Every user of a pod may write there, as with other provisioners of directories."""
    path.mkdir(mode=0o777, parents=True, exist_ok=True)
    path.chmod(0o777)


class VolumeReconciler:
    """Keys are volumes: those that were made here go, directory and object, when their claim has gone."""

    def __init__(self, client: ClientProtocol, volumes: Store[PersistentVolume], root: Path) -> None:
        self._client = client
        self._volumes = volumes
        self._root = root

    def observe(self, name: str) -> PersistentVolume | None:
        return self._volumes.get(name)

    def diff(self, volume: PersistentVolume) -> PersistentVolume | None:
        return volume if is_over(volume) else None

    async def act(self, plan: PersistentVolume) -> Result | None:
        path = Path(plan.spec.host_path.path) if plan.spec.host_path is not None else None
        if path is not None and path.parent == self._root:  # and nothing that somebody wrote into a volume's specification
            await asyncio.to_thread(shutil.rmtree, path, ignore_errors=True)
        try:
            await self._client.delete(PERSISTENTVOLUMES, plan.metadata.name, uid=plan.metadata.uid)
        except StatusError as error:
            if error.reason != "NotFound":
                raise
        return None


def is_over(volume: PersistentVolume) -> bool:
    """Whether a volume from here is to go."""
    mine = (volume.metadata.annotations or {}).get(_PROVISIONED_BY) == PROVISIONER
    released = volume.status.phase == "Released" and volume.spec.persistent_volume_reclaim_policy == "Delete"
    return mine and released and not volume.metadata.deletion_timestamp


def new(context: Context) -> Several:
    """The two, with their handlers registered; nothing runs yet."""
    root = context.settings.volumes
    if root is None:  # as long as it is in the table, somebody has said where
        raise ValueError("no directory for volumes")
    known = volume_informers(context.informers)
    recorder = context.recorder(NAME)
    making: Controller[Observed, Plan] = Controller(
        "provisioning",
        ClaimReconciler(context.client, known, recorder, root),
        context.clock,
        workers=1,
        informers=known.all(),
    )
    removing: Controller[PersistentVolume, PersistentVolume] = Controller(
        "removing",
        VolumeReconciler(context.client, known.volumes.store, root),
        context.clock,
        workers=1,
        informers=(known.volumes,),
    )

    def claim_changed(_: str, __: PersistentVolumeClaim | None, claim: PersistentVolumeClaim | None) -> None:
        if claim is not None and is_asked(claim):
            making.enqueue(key_of(claim))

    def volume_changed(_: str, old: PersistentVolume | None, volume: PersistentVolume | None) -> None:
        if volume is not None and is_over(volume):
            removing.enqueue(volume.metadata.name)
        elif volume is None and old is not None and old.spec.claim_ref is not None:
            making.enqueue(key(old.spec.claim_ref.namespace, old.spec.claim_ref.name))

    known.claims.on_change(claim_changed)
    known.volumes.on_change(volume_changed)
    return Several(NAME, (making, removing))
