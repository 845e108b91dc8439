"""VolumeZone: a volume labelled with a zone or region goes with nodes of that zone or region."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from setpoint.api.types.core_v1 import PersistentVolumeClaim, Pod
from setpoint.scheduler.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from setpoint.scheduler.framework import CycleState, Handle, PreFilterResult
from setpoint.scheduler.plugins.volume_claims import ClaimError, class_of, volumes_of
from setpoint.scheduler.plugins.volume_restrictions import is_claim_of
from setpoint.scheduler.pods import claim_names
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import SKIP, Status, unresolvable

REFUSED = unresolvable("node(s) had no available volume zone")
_SUCCESSORS: Mapping[str, str] = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
}
TOPOLOGY_LABELS = (*_SUCCESSORS.keys(), *_SUCCESSORS.values())


class _Zones(Struct, frozen=True):
    """Label key and allowed values, for each volume."""

    allowed: Sequence[tuple[str, frozenset[str]]]


class VolumeZone:
    """See the module."""

    name = "VolumeZone"

    def __init__(self, handle: Handle) -> None:
        self._volumes = volumes_of(handle.listers)

    def pre_filter(self, state: CycleState, pod: Pod) -> tuple[PreFilterResult | None, Status | None]:
        if not pod.spec.volumes:
            return None, SKIP
        allowed: list[tuple[str, frozenset[str]]] = []
        try:
            for name in claim_names(pod):
                if not name.ephemeral:
                    allowed += self._zones(self._volumes.claim(pod, name))
        except ClaimError as error:
            return None, error.status
        if not allowed:
            return None, SKIP
        state.write(_Zones(allowed))
        return None, None

    def _zones(self, claim: PersistentVolumeClaim) -> list[tuple[str, frozenset[str]]]:
        name = claim.spec.volume_name
        if not name:
            if self._volumes.waits_for_pod(claim):
                return []
            raise ClaimError(self._why_unbound(claim))
        volume = self._volumes.volume(name)
        if volume is None:
            raise ClaimError(f'persistentvolume "{name}" not found')
        labels = volume.metadata.labels
        found = [(key, _zones_in(labels[key])) for key in TOPOLOGY_LABELS if key in labels]
        return [(key, zones) for key, zones in found if zones]

    def _why_unbound(self, claim: PersistentVolumeClaim) -> str:
        """Why there is no volume to look at."""
        name = class_of(claim)
        if not name:
            return "PersistentVolumeClaim had no pv name and storageClass name"
        if self._volumes.storage_class(name) is None:
            return f'storageclass.storage.k8s.io "{name}" not found'
        return "PersistentVolume had no name"

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        labels = node.labels
        if not any(key in labels for key in TOPOLOGY_LABELS):
            return None  # a cluster without zones
        for key, values in state.read(_Zones).allowed:
            here = labels.get(key)
            if here is None and key in _SUCCESSORS:
                here = labels.get(_SUCCESSORS[key])
            if here not in values:
                return REFUSED
        return None

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (
            ClusterEventWithHint(EventResource.STORAGE_CLASS, ActionType.ADD),
            ClusterEventWithHint(EventResource.NODE, ActionType.ADD | ActionType.LABEL, _zones_changed),
            ClusterEventWithHint(EventResource.CLAIM, ActionType.ADD | ActionType.OTHER, is_claim_of),
            ClusterEventWithHint(EventResource.VOLUME, ActionType.ADD | ActionType.LABEL | ActionType.OTHER),
        )


def _zones_in(label: str) -> frozenset[str]:
    """The zones that a volume's label lists; none where one of them is empty: such a label is not heeded."""
    zones = frozenset(zone.strip() for zone in label.split("__"))
    return frozenset() if "" in zones else zones


def _zones_changed(_: Pod, event: ClusterEvent) -> bool:
    if event.old is None:
        return True
    before, after = event.old.metadata.labels, event.new.metadata.labels
    return any(before.get(key) != after.get(key) for key in TOPOLOGY_LABELS)
