"""VolumeRestrictions: a disk that only one pod may use, and a ReadWriteOncePod claim that another pod uses."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from setpoint.api.types.core_v1 import Pod, Volume
from setpoint.scheduler.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from setpoint.scheduler.framework import CycleState, Handle, PreFilterResult
from setpoint.scheduler.plugins.volume_claims import ONE_POD, ClaimError, volumes_of
from setpoint.scheduler.pods import PodInfo, claim_names
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import SKIP, Status, unschedulable

DISK = unschedulable("node(s) had no available disk")
IN_USE = unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)


class _Restricted(Struct):
    """The pod's ReadWriteOncePod claims, by how many uses of them by others there are."""

    claims: frozenset[str]
    uses: int

    def clone(self) -> _Restricted:
        return _Restricted(self.claims, self.uses)


class VolumeRestrictions:
    """See the module."""

    name = "VolumeRestrictions"

    def __init__(self, handle: Handle) -> None:
        self._volumes = volumes_of(handle.listers)
        self._snapshot = handle.snapshot

    def pre_filter(self, state: CycleState, pod: Pod) -> tuple[PreFilterResult | None, Status | None]:
        if not pod.spec.volumes:
            return None, SKIP
        disks = any(_is_exclusive(volume) for volume in pod.spec.volumes)
        try:
            mine = [self._volumes.claim(pod, name) for name in claim_names(pod) if not name.ephemeral]
        except ClaimError as error:
            return None, error.status
        single = frozenset(
            f"{claim.metadata.namespace}/{claim.metadata.name}" for claim in mine if ONE_POD in claim.spec.access_modes
        )
        uses = sum(self._snapshot.claim_uses[name] for name in single)
        if not uses and not disks:
            return None, SKIP
        state.write(_Restricted(single, uses))
        return None, None

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        if any(_conflict(volume, other) for volume in pod.spec.volumes for other in node.pods.values()):
            return DISK
        return IN_USE if state.read(_Restricted).uses > 0 else None

    def add_pod(self, state: CycleState, pod: Pod, other: PodInfo, node: NodeInfo) -> None:
        _count(state, other, 1)

    def remove_pod(self, state: CycleState, pod: Pod, other: PodInfo, node: NodeInfo) -> None:
        _count(state, other, -1)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (
            ClusterEventWithHint(EventResource.ASSIGNED_POD, ActionType.DELETE, _frees_a_volume),
            ClusterEventWithHint(EventResource.NODE, ActionType.ADD),
            ClusterEventWithHint(EventResource.CLAIM, ActionType.ADD | ActionType.OTHER, is_claim_of),
        )


def _count(state: CycleState, other: PodInfo, sign: int) -> None:
    found = state.find(_Restricted)
    if found is not None:
        found.uses += sign * sum(name in found.claims for name in other.claims)


def _is_exclusive(volume: Volume) -> bool:
    return any(
        each is not None for each in (volume.gce_persistent_disk, volume.aws_elastic_block_store, volume.rbd, volume.iscsi)
    )


def _conflict(mine: Volume, other: PodInfo) -> bool:
    return _is_exclusive(mine) and any(_clash(mine, theirs) for theirs in other.pod.spec.volumes)


def _clash(mine: Volume, theirs: Volume) -> bool:
    """Both mean one disk, and not both for reading only; an EBS volume has no second reader either."""
    if mine.gce_persistent_disk is not None and theirs.gce_persistent_disk is not None:
        one, two = mine.gce_persistent_disk, theirs.gce_persistent_disk
        return one.pd_name == two.pd_name and not (one.read_only and two.read_only)
    if mine.aws_elastic_block_store is not None and theirs.aws_elastic_block_store is not None:
        return mine.aws_elastic_block_store.volume_id == theirs.aws_elastic_block_store.volume_id
    if mine.iscsi is not None and theirs.iscsi is not None:
        return mine.iscsi.iqn == theirs.iscsi.iqn and not (mine.iscsi.read_only and theirs.iscsi.read_only)
    if mine.rbd is not None and theirs.rbd is not None:
        first, second = mine.rbd, theirs.rbd
        same = (first.pool or "rbd", first.image) == (second.pool or "rbd", second.image)
        shared = bool(set(first.monitors) & set(second.monitors))
        return same and shared and not (first.read_only and second.read_only)
    return False


def _frees_a_volume(pod: Pod, event: ClusterEvent) -> bool:
    gone = PodInfo(event.old)
    if set(gone.claims) & set(PodInfo(pod).claims):
        return True
    return any(_conflict(volume, gone) for volume in pod.spec.volumes)


def is_claim_of(pod: Pod, event: ClusterEvent) -> bool:
    meta = (event.new or event.old).metadata
    return f"{meta.namespace}/{meta.name}" in PodInfo(pod).claims
