"""Observe, diff, act for one node, and the wiring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import (
    NODES,
    PERSISTENTVOLUMECLAIMS,
    PERSISTENTVOLUMES,
    PODS,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
)
from setpoint.api.types.storage_v1 import CSIDRIVERS, VOLUMEATTACHMENTS, CSIDriver, VolumeAttachment
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.events import EventRecorder
from setpoint.client.factory import InformerFactory
from setpoint.client.informer import Informer, any_of
from setpoint.client.objects import key
from setpoint.controllers.attach_detach import plan as plans
from setpoint.controllers.attach_detach.plan import Held, Observed, Plan, Wanted
from setpoint.controllers.component import Context
from setpoint.controllers.node_lifecycle.monitor import BY_NODE
from setpoint.controllers.node_lifecycle.pods import by_node
from setpoint.controllers.persistent_volume.protection import BY_CLAIM, claims_of
from setpoint.kit.clock import Clock

NAME = "persistentvolume-attach-detach-controller"
RECORDER = "attachdetach-controller"
_BY_NODE, _BY_VOLUME = "node", "volume"


def _of_node(each: VolumeAttachment) -> tuple[str, ...]:
    return (each.spec.node_name,)


def _of_volume(each: VolumeAttachment) -> tuple[str, ...]:
    return (each.spec.source.persistent_volume_name or "",)


class Known(Struct, frozen=True):
    """The informers of all that matters."""

    nodes: Informer[Node]
    pods: Informer[Pod]
    claims: Informer[PersistentVolumeClaim]
    volumes: Informer[PersistentVolume]
    drivers: Informer[CSIDriver]
    attachments: Informer[VolumeAttachment]

    def volumes_of(self, pod: Pod) -> Iterator[PersistentVolume]:
        """Those of drivers that attach; a driver that says nothing of it does."""
        for name in claims_of(pod):
            claim = self.claims.store.get(name)
            volume = self.volumes.store.get(claim.spec.volume_name) if claim is not None and claim.spec.volume_name else None
            if volume is not None and volume.spec.csi is not None and self._attaches(volume.spec.csi.driver):
                yield volume

    def _attaches(self, name: str) -> bool:
        driver = self.drivers.store.get(name)
        return driver is None or driver.spec.attach_required is not False


def _known(informers: InformerFactory) -> Known:
    known = Known(
        informers.of(NODES),
        informers.of(PODS),
        informers.of(PERSISTENTVOLUMECLAIMS),
        informers.of(PERSISTENTVOLUMES),
        informers.of(CSIDRIVERS),
        informers.of(VOLUMEATTACHMENTS),
    )
    known.pods.add_index(BY_NODE, by_node)
    known.pods.add_index(BY_CLAIM, claims_of)
    known.attachments.add_index(_BY_NODE, _of_node)
    known.attachments.add_index(_BY_VOLUME, _of_volume)
    return known


class AttachDetachReconciler:
    """Keys are nodes. It remembers what pods were told, and since when what a node has is unwanted."""

    def __init__(self, client: ClientProtocol, clock: Clock, known: Known, recorder: EventRecorder) -> None:
        self._client = client
        self._clock = clock
        self._known = known
        self._recorder = recorder
        self._told: dict[str, Mapping[str, str]] = {}
        self._unwanted: dict[str, Mapping[str, float]] = {}

    def observe(self, name: str) -> Observed | None:
        node, held = self._known.nodes.store.get(name), dict(self._held(name))
        if plans.MANAGED not in node.metadata.annotations if node is not None else not held:
            self._told.pop(name, None)
            self._unwanted.pop(name, None)
            return None
        users: dict[str, tuple[PersistentVolume, list[Pod]]] = {}
        for pod in self._known.pods.store.by_index(BY_NODE, name) if node is not None else ():
            for volume in self._known.volumes_of(pod) if not plans.is_over(pod) else ():
                users.setdefault(plans.attachment_name(volume, name), (volume, []))[1].append(pod)
        wanted = {each: self._wanted(volume, tuple(pods), name) for each, (volume, pods) in users.items()}
        told, unwanted = self._told.get(name, {}), self._unwanted.get(name, {})
        return Observed(name, node, wanted, held, told, unwanted, self._clock.now())

    def _wanted(self, volume: PersistentVolume, pods: tuple[Pod, ...], node: str) -> Wanted:
        known, ref = self._known, volume.spec.claim_ref
        having = known.attachments.store.by_index(_BY_VOLUME, volume.metadata.name) if plans.is_exclusive(volume) else ()
        nodes = {each.spec.node_name for each in having} - {node}
        users = known.pods.store.by_index(BY_CLAIM, key(ref.namespace, ref.name)) if nodes and ref is not None else ()
        others = sorted(each.metadata.name for each in users if each.spec.node_name in nodes and not plans.is_over(each))
        return Wanted(volume, pods, bool(nodes), tuple(others))

    def _held(self, node: str) -> Iterator[tuple[str, Held]]:
        """The attachments of this controller's making: those that have the name that it gives."""
        for each in self._known.attachments.store.by_index(_BY_NODE, node):
            volume = self._known.volumes.store.get(each.spec.source.persistent_volume_name or "")
            if volume is not None and plans.attachment_name(volume, node) == each.metadata.name:
                yield each.metadata.name, Held(each, plans.unique_name(volume))

    def diff(self, observed: Observed) -> Plan | None:
        return plans.diff(observed)

    async def act(self, plan: Plan) -> Result | None:
        name = plan.node
        if plan.report is not None:  # before anything is detached: nobody may mount it any more
            volumes = [{"name": each, "devicePath": ""} for each in plan.report]
            await self._client.patch(NODES, name, {"status": {"volumesAttached": volumes or None}}, subresource="status")
        for attachment in plan.detach:
            await self._quietly(
                404, self._client.delete(VOLUMEATTACHMENTS, attachment.metadata.name, uid=attachment.metadata.uid)
            )
        for each, wanted in plan.attach.items():
            csi, volume = wanted.volume.spec.csi, wanted.volume.metadata.name
            source = {"persistentVolumeName": volume}
            spec = {"attacher": csi.driver if csi is not None else "", "nodeName": name, "source": source}
            await self._quietly(409, self._client.create(VOLUMEATTACHMENTS, {"metadata": {"name": each}, "spec": spec}))
        for event in plan.events:
            self._recorder.event(*event)
        self._told[name], self._unwanted[name] = plan.told, plan.unwanted
        return Result(plan.look_again)

    async def _quietly(self, code: int, write: Any) -> None:
        """The cache did not know yet of what was done."""
        try:
            await write
        except StatusError as error:
            if error.code != code:
                raise


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    known = _known(context.informers)
    reconciler = AttachDetachReconciler(context.client, context.clock, known, context.recorder(RECORDER))
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, informers=astuple(known))

    def node_changed(_: str, old: Node | None, node: Node | None) -> None:
        """Heartbeats are nobody's business."""
        if old is None or node is None or _counted(old) != _counted(node):
            controller.enqueue(any_of(old, node).metadata.name)

    def pod_changed(_: str, old: Pod | None, pod: Pod | None) -> None:
        found = any_of(old, pod)
        if found.spec.node_name and any(each.persistent_volume_claim or each.ephemeral for each in found.spec.volumes):
            controller.enqueue(found.spec.node_name)

    def attachment_changed(_: str, old: VolumeAttachment | None, attachment: VolumeAttachment | None) -> None:
        """All that wait for the volume, and the node itself."""
        found = any_of(old, attachment)
        controller.enqueue(found.spec.node_name)
        if attachment is None:
            everywhere()

    def everywhere(*_: Any) -> None:
        for node in known.nodes.store.list():
            if plans.MANAGED in node.metadata.annotations:
                controller.enqueue(node.metadata.name)

    def claim_changed(_: str, old: PersistentVolumeClaim | None, claim: PersistentVolumeClaim | None) -> None:
        if claim is not None and claim.spec.volume_name and (old is None or not old.spec.volume_name):
            everywhere()

    known.nodes.on_change(node_changed)
    known.pods.on_change(pod_changed)
    known.claims.on_change(claim_changed)
    known.drivers.on_change(everywhere)
    known.attachments.on_change(attachment_changed)
    return controller


def _counted(node: Node) -> tuple[object, ...]:
    managed, status = node.metadata.annotations.get(plans.MANAGED), node.status
    return managed, status.volumes_in_use, status.volumes_attached, plans.is_well(node), plans.is_out_of_service(node)
