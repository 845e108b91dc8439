"""VolumeBinding: the pod goes where its volumes are, and claims that wait for a pod are bound where it goes.

Filter finds, for every claim that is not bound yet, a volume on the node or a provisioner for it. Reserve takes the volumes, so
that no other pod does; PreBind writes the choice down (the volume's `claimRef`, the claim's selected node) and waits until the
claims are bound. Source: `plugins/volumebinding` of kube-scheduler.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from setpoint.api.types.core_v1 import PersistentVolume, PersistentVolumeClaim, Pod
from setpoint.api.types.storage_v1 import CSIDRIVERS, CSISTORAGECAPACITIES
from setpoint.scheduler.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from setpoint.scheduler.framework import CycleState, Handle, PreFilterResult
from setpoint.scheduler.plugin_config import VolumeBindingArgs
from setpoint.scheduler.plugins.volume_claims import (
    SELECTED_NODE,
    ClaimError,
    by_size,
    class_of,
    find_volume,
    is_bound,
    reaches,
    volumes_of,
)
from setpoint.scheduler.plugins.volume_provisioning import Provisioning
from setpoint.scheduler.plugins.volume_restrictions import is_claim_of
from setpoint.scheduler.plugins.volume_writing import VolumeWriter
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import SKIP, Status, unresolvable

IMMEDIATE = unresolvable("pod has unbound immediate PersistentVolumeClaims")
NODE_AFFINITY = "node(s) didn't match PersistentVolume's node affinity"
NO_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
NOTHING_TO_BIND = "node(s) didn't find available persistent volumes to bind"
NO_SPACE = "node(s) did not have enough free storage"


class Choice(Struct, frozen=True):
    """For one node: which volume each claim gets, and which claims are to be provided with one."""

    bindings: Sequence[tuple[PersistentVolumeClaim, PersistentVolume]] = ()
    provisioned: Sequence[PersistentVolumeClaim] = ()


class _Claims(Struct):
    """The pod's claims: bound ones, and those that wait for it; what was chosen on each node."""

    bound: list[PersistentVolumeClaim]
    waiting: list[PersistentVolumeClaim]
    choices: dict[str, Choice] = field(default_factory=dict)


DEFAULT_ARGS = VolumeBindingArgs()


class VolumeBinding:
    """See the module."""

    name = "VolumeBinding"

    def __init__(self, handle: Handle, args: VolumeBindingArgs = DEFAULT_ARGS) -> None:
        listers = handle.listers
        self._volumes = volumes_of(listers)
        self._provisioning = Provisioning(self._volumes, listers.of(CSIDRIVERS), listers.of(CSISTORAGECAPACITIES))
        self._writer = VolumeWriter(handle, self._volumes, args.bind_timeout_seconds)
        self._taken: dict[str, str] = {}  # volumes on their way to a claim, by whose pod

    # ---- filter

    def pre_filter(self, state: CycleState, pod: Pod) -> tuple[PreFilterResult | None, Status | None]:
        if not state.info.claims:
            return None, SKIP
        try:
            claims = self._volumes.claims_of(pod)
        except ClaimError as error:
            return None, error.status
        found = _Claims([], [])
        for claim in claims:
            if is_bound(claim):
                found.bound.append(claim)
            elif self._volumes.waits_for_pod(claim) and not claim.spec.volume_name:
                found.waiting.append(claim)
            else:
                return None, IMMEDIATE
        state.write(found)
        return None, None

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        found = state.read(_Claims)
        reasons = self._bound_reasons(found.bound, node)
        choice = self._choose(found.waiting, node) if found.waiting else Choice()
        if isinstance(choice, str):
            reasons.append(choice)
        else:
            found.choices[node.name] = choice
        return unresolvable(*sorted(reasons)) if reasons else None

    def _bound_reasons(self, claims: Sequence[PersistentVolumeClaim], node: NodeInfo) -> list[str]:
        for claim in claims:
            volume = self._volumes.volume(claim.spec.volume_name)
            if volume is None:
                return [NO_VOLUME]
            if not reaches(volume, node.known):
                return [NODE_AFFINITY]
        return []

    def _choose(self, claims: Sequence[PersistentVolumeClaim], node: NodeInfo) -> Choice | str:
        """A volume or a provisioner for every claim, or why not."""
        bindings: list[tuple[PersistentVolumeClaim, PersistentVolume]] = []
        provisioned: list[PersistentVolumeClaim] = []
        chosen = set(self._taken)
        for claim in by_size(claims):
            selected = claim.metadata.annotations.get(SELECTED_NODE)
            if selected:
                if selected != node.name:
                    return NOTHING_TO_BIND
                provisioned.append(claim)
                continue
            volume = find_volume(claim, self._volumes.volumes.list(), node.known, chosen)
            if volume is not None:
                chosen.add(volume.metadata.name)
                bindings.append((claim, volume))
            else:
                provisioned.append(claim)
        for claim in provisioned:
            if not self._provisioning.possible(claim, node):
                return NOTHING_TO_BIND
            if not self._provisioning.has_space(claim, node):
                return NO_SPACE
        return Choice(bindings, provisioned)

    # ---- binding

    def reserve(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        choice = _choice(state, node)
        if choice is not None:
            for _, volume in choice.bindings:
                self._taken[volume.metadata.name] = state.info.key
        return None

    def unreserve(self, state: CycleState, pod: Pod, node: str) -> None:
        for name in [name for name, key in self._taken.items() if key == state.info.key]:
            del self._taken[name]

    def pre_flight(self, state: CycleState, pod: Pod, node: str) -> bool:
        choice = _choice(state, node)
        return choice is not None and bool(choice.bindings or choice.provisioned)

    async def pre_bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        choice = _choice(state, node)
        if choice is None or not (choice.bindings or choice.provisioned):
            return None
        status = await self._writer.bind(choice.bindings, choice.provisioned, node)
        if status is None:
            self.unreserve(state, pod, node)  # the volumes say themselves whose they are
        return status

    # ---- events

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (
            ClusterEventWithHint(EventResource.NODE, ActionType.ADD | ActionType.LABEL),
            ClusterEventWithHint(EventResource.CLAIM, ActionType.ADD | ActionType.OTHER, is_claim_of),
            ClusterEventWithHint(EventResource.VOLUME, ActionType.ADD | ActionType.OTHER | ActionType.LABEL),
            ClusterEventWithHint(EventResource.STORAGE_CLASS, ActionType.ADD | ActionType.OTHER, self._is_class_of),
            ClusterEventWithHint(EventResource.CSI_NODE, ActionType.ADD | ActionType.OTHER),
            ClusterEventWithHint(EventResource.CSI_DRIVER, ActionType.OTHER),
            ClusterEventWithHint(EventResource.CSI_STORAGE_CAPACITY, ActionType.ADD | ActionType.OTHER),
        )

    def _is_class_of(self, pod: Pod, event: ClusterEvent) -> bool:
        try:
            return any(class_of(claim) == event.new.metadata.name for claim in self._volumes.claims_of(pod))
        except ClaimError:
            return False


def _choice(state: CycleState, node: str) -> Choice | None:
    found: Any = state.find(_Claims)
    return found.choices.get(node) if found is not None else None
