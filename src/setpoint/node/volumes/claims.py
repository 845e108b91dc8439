"""Volumes by claim: from a pod's claim to the directory that its persistent volume stands for.

A binding never changes while a pod uses it, so each is looked up once. Volumes are hostPath and local ones; others need drivers
that a node of processes has not. Source of the texts: kubelet `pkg/kubelet/volumemanager/populator`.
"""

from __future__ import annotations

import asyncio
import os

from setpoint.api.types.core_v1 import PERSISTENTVOLUMECLAIMS, PERSISTENTVOLUMES, PersistentVolume, Pod, Volume
from setpoint.node.sources import Sources
from setpoint.node.volumes import host_path
from setpoint.node.volumes.payload import VolumeError

_PROVISIONED_BY, _PROVISIONER = "pv.kubernetes.io/provisioned-by", "setpoint/host-path"


def claim_of(pod: Pod, volume: Volume) -> str:
    """The name of the claim that a volume of the pod is of; empty for other volumes."""
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    return f"{pod.metadata.name}-{volume.name}" if volume.ephemeral is not None else ""


class ClaimedVolumes:
    """What was found for pods that are here."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._found: dict[tuple[str, str], PersistentVolume] = {}

    def forget(self, pod_uid: str) -> None:
        for key in [key for key in self._found if key[0] == pod_uid]:
            del self._found[key]

    async def path(self, pod: Pod, claim: str, user: int | None = None) -> str:
        """The directory to bind. Raises VolumeError, SourceUnavailable and OSError.

        `user` is the one that the node made up for the pod, as which its root runs: to it belongs what the pods before left in a
        volume that was made for the claim. Of several pods at a time that is the last one to come.
        """
        key = (pod.metadata.uid, claim)
        if key in self._found:
            return _directory(self._found[key])
        volume = await self._bound(pod, claim)
        path = _directory(volume)
        if user is not None and _is_provisioned(volume):
            await asyncio.get_running_loop().run_in_executor(None, _give, path, user)
        self._found[key] = volume
        return path

    async def _bound(self, pod: Pod, name: str) -> PersistentVolume:
        namespace = pod.metadata.namespace
        what = f"error processing PVC {namespace}/{name}"
        claim = await self._sources.read(PERSISTENTVOLUMECLAIMS, name, namespace)
        if claim is None:
            missing = f'failed to fetch PVC from API server: persistentvolumeclaims "{name}" not found'
            raise VolumeError(f"{what}: {missing}")
        if claim.metadata.deletion_timestamp:
            raise VolumeError(f"{what}: PVC is being deleted")
        if claim.status.phase != "Bound" or not claim.spec.volume_name:
            raise VolumeError(f"{what}: PVC is not bound")
        volume = await self._sources.read(PERSISTENTVOLUMES, claim.spec.volume_name)
        reference = volume.spec.claim_ref if volume is not None else None
        if volume is None or reference is None or reference.uid != claim.metadata.uid:
            raise VolumeError(f'{what}: PV "{claim.spec.volume_name}" is not bound to this PVC')
        return volume


def _is_provisioned(volume: PersistentVolume) -> bool:
    """Whether the directory was made for this volume alone, by the cluster's own provisioner."""
    return (volume.metadata.annotations or {}).get(_PROVISIONED_BY) == _PROVISIONER and volume.spec.host_path is not None


def _give(path: str, user: int) -> None:
    """Everything below a directory, but not what links lead to. Nothing to do where it is the user's already."""
    if os.stat(path).st_uid == user:
        return
    for folder, _, files in os.walk(path, topdown=False):
        for name in files:
            os.chown(os.path.join(folder, name), user, user, follow_symlinks=False)
        os.chown(folder, user, user, follow_symlinks=False)


def _directory(volume: PersistentVolume) -> str:
    source = volume.spec
    if source.host_path is not None:
        return host_path.prepare(source.host_path.path, source.host_path.type or "")
    if source.local is not None:
        if not os.path.exists(source.local.path):
            raise VolumeError(f'path "{source.local.path}" does not exist')
        return source.local.path
    raise VolumeError("this node has no plugin for this kind of volume")
