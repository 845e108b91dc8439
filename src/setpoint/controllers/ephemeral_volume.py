"""Generic ephemeral volumes: a claim of its own for each such volume of a pod, gone with the pod.

As `pkg/controller/volume/ephemeral`. A claim of that name which is another's is left alone: the pod then waits for it in vain,
and is told so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import PERSISTENTVOLUMECLAIMS, PODS, PersistentVolumeClaim, Pod, Volume
from setpoint.client.client import Client
from setpoint.client.controller import Controller, Result
from setpoint.client.events import EventRecorder
from setpoint.client.objects import key, key_of
from setpoint.client.owners import controller_of, controller_reference, is_controlled_by
from setpoint.client.store import Store
from setpoint.controllers.component import Context
from setpoint.controllers.refusals import is_namespace_terminating

NAME = "ephemeral-volume-controller"
RECORDER = "ephemeral_volume"


class Observed(Struct, frozen=True):
    """A pod, and the claims that have the names of its volumes' claims."""

    pod: Pod
    claims: Mapping[str, PersistentVolumeClaim]


class Plan(Struct, frozen=True):
    """Volumes whose claims are to be made; `foreign` is the first volume whose claim is another's."""

    pod: Pod
    volumes: tuple[Volume, ...]
    foreign: Volume | None = None


def is_wanted(pod: Pod) -> bool:
    """Whether a pod has such volumes."""
    return any(volume.ephemeral is not None for volume in pod.spec.volumes)


def claim_name(pod: Pod, volume: Volume) -> str:
    return f"{pod.metadata.name}-{volume.name}"


def diff(observed: Observed) -> Plan | None:
    """Pure. What stands before a claim that is another's is made."""
    pod = observed.pod
    if pod.metadata.deletion_timestamp:
        return None
    made: list[Volume] = []
    for volume in pod.spec.volumes:
        if volume.ephemeral is None or volume.ephemeral.volume_claim_template is None:
            continue
        claim = observed.claims.get(claim_name(pod, volume))
        if claim is None:
            made.append(volume)
        elif not is_controlled_by(claim.metadata, pod):
            return Plan(pod, tuple(made), volume)
    return Plan(pod, tuple(made)) if made else None


class NotTheirs(Exception):
    """A claim was there first, and is another's."""


class EphemeralVolumeReconciler:
    """Keys are pods."""

    def __init__(self, client: Client, pods: Store[Pod], claims: Store[PersistentVolumeClaim], recorder: EventRecorder) -> None:
        self._client = client
        self._pods = pods
        self._claims = claims
        self._recorder = recorder

    def observe(self, name: str) -> Observed | None:
        pod = self._pods.get(name)
        if pod is None:
            return None
        names = [claim_name(pod, volume) for volume in pod.spec.volumes if volume.ephemeral is not None]
        found = ((each, self._claims.get(key(pod.metadata.namespace, each))) for each in names)
        return Observed(pod, {each: claim for each, claim in found if claim is not None})

    def diff(self, observed: Observed) -> Plan | None:
        return diff(observed)

    async def act(self, plan: Plan) -> Result | None:
        for volume in plan.volumes:
            try:
                await self._create(plan.pod, volume)
            except StatusError as error:
                if is_namespace_terminating(error):
                    return None
                self._tell(plan.pod, volume, f"create PVC {claim_name(plan.pod, volume)}: {error}")
                raise
        if plan.foreign is not None:
            meta, name = plan.pod.metadata, claim_name(plan.pod, plan.foreign)
            why = f"PVC {meta.namespace}/{name} was not created for pod {meta.namespace}/{meta.name} (pod is not owner)"
            self._tell(plan.pod, plan.foreign, why)
            raise NotTheirs(why)
        return None

    def _tell(self, pod: Pod, volume: Volume, why: str) -> None:
        self._recorder.event(pod, "Warning", "FailedBinding", f'ephemeral volume "{volume.name}": {why}')

    async def _create(self, pod: Pod, volume: Volume) -> None:
        """From the pod as the server has it: the template may have fields that no view knows."""
        body = await self._client.raw("GET", PODS.path(pod.metadata.namespace, pod.metadata.name))
        if body["metadata"]["uid"] != pod.metadata.uid:
            return
        template = next(
            each["ephemeral"]["volumeClaimTemplate"] for each in body["spec"]["volumes"] if each["name"] == volume.name
        )
        given: Mapping[str, Any] = template.get("metadata") or {}
        metadata = {
            "name": claim_name(pod, volume),
            "ownerReferences": [controller_reference(pod, PODS)],
            **{field: given[field] for field in ("annotations", "labels") if given.get(field)},
        }
        claim = {"metadata": metadata, "spec": template["spec"]}
        await self._client.create(PERSISTENTVOLUMECLAIMS, claim, pod.metadata.namespace)


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet. What a pod says of its volumes never changes."""
    pods, claims = context.informers.of(PODS), context.informers.of(PERSISTENTVOLUMECLAIMS)
    reconciler = EphemeralVolumeReconciler(context.client, pods.store, claims.store, context.recorder(RECORDER))
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, informers=(pods, claims))

    def pod_changed(_: str, old: Pod | None, pod: Pod | None) -> None:
        if old is None and pod is not None and is_wanted(pod):
            controller.enqueue(key_of(pod))

    def claim_changed(_: str, old: PersistentVolumeClaim | None, claim: PersistentVolumeClaim | None) -> None:
        owner = controller_of(old.metadata) if claim is None and old is not None else None
        if old is not None and owner is not None and owner.kind == PODS.kind:
            controller.enqueue(key(old.metadata.namespace, owner.name))

    pods.on_change(pod_changed)
    claims.on_change(claim_changed)
    return controller
