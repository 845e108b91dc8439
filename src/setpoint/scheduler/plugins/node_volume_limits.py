"""NodeVolumeLimits: a driver attaches only so many volumes to a node (CSINode says how many)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from setpoint.api.types.core_v1 import Pod
from setpoint.api.types.storage_v1 import CSINODES, VOLUMEATTACHMENTS
from setpoint.scheduler.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from setpoint.scheduler.framework import CycleState, Handle, PreFilterResult
from setpoint.scheduler.plugins.volume_claims import class_of, volumes_of
from setpoint.scheduler.plugins.volume_restrictions import is_claim_of
from setpoint.scheduler.pods import PodInfo, claim_names
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import SKIP, Status, unschedulable

REFUSED = unschedulable("node(s) exceed max volume count")
Attached = tuple[str, str]  # driver, and the volume's handle or what stands for it


class NodeVolumeLimits:
    """See the module."""

    name = "NodeVolumeLimits"

    def __init__(self, handle: Handle) -> None:
        self._volumes = volumes_of(handle.listers)
        self._nodes = handle.listers.of(CSINODES)
        self._attachments = handle.listers.of(VOLUMEATTACHMENTS)

    def pre_filter(self, state: CycleState, pod: Pod) -> tuple[PreFilterResult | None, Status | None]:
        return None, None if state.info.claims else SKIP

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        limits = self._limits(node)
        if not limits:
            return None
        new = {each for each in self._attached_by(pod) if each[0] in limits}
        if not new:
            return None
        there = {each for info in node.pods.values() if info.claims for each in self._attached_by(info.pod)}
        there |= {*self._attached_to(node)}
        counts, more = Counter(driver for driver, _ in there), Counter(driver for driver, _ in new - there)
        over = any(counts[driver] + more[driver] > limits[driver] for driver in more)
        return REFUSED if over else None

    def _limits(self, node: NodeInfo) -> dict[str, int]:
        known = self._nodes.get(node.name)
        if known is None:
            return {}
        drivers = known.spec.drivers
        return {each.name: each.allocatable.count for each in drivers if each.allocatable and each.allocatable.count is not None}

    def _attached_by(self, pod: Pod) -> Iterator[Attached]:
        """What the pod's claims attach; one that is not bound yet counts for the driver that will provide it."""
        for name in claim_names(pod):
            claim = self._volumes.claims.get(f"{pod.metadata.namespace}/{name.claim}")
            if claim is None:
                continue
            volume = self._volumes.volume(claim.spec.volume_name) if claim.spec.volume_name else None
            if volume is not None and volume.spec.csi is not None:
                yield volume.spec.csi.driver, volume.spec.csi.volume_handle
            elif volume is None:
                storage_class = self._volumes.storage_class(class_of(claim))
                if storage_class is not None:
                    yield storage_class.provisioner, f"{claim.metadata.namespace}/{claim.metadata.name}"

    def _attached_to(self, node: NodeInfo) -> Iterator[Attached]:
        for attachment in self._attachments.list():
            source = attachment.spec.source.persistent_volume_name
            if attachment.spec.node_name != node.name or not source:
                continue
            volume = self._volumes.volume(source)
            if volume is not None and volume.spec.csi is not None:
                yield volume.spec.csi.driver, volume.spec.csi.volume_handle

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (
            ClusterEventWithHint(EventResource.CSI_NODE, ActionType.ADD | ActionType.OTHER),
            ClusterEventWithHint(EventResource.ASSIGNED_POD, ActionType.DELETE, _had_claims),
            ClusterEventWithHint(EventResource.CLAIM, ActionType.ADD, is_claim_of),
            ClusterEventWithHint(EventResource.VOLUME_ATTACHMENT, ActionType.DELETE),
        )


def _had_claims(_: Pod, event: ClusterEvent) -> bool:
    return bool(PodInfo(event.old).claims)
