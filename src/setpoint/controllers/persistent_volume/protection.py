"""Finalizers that keep claims while pods use them, and volumes while they are bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import PersistentVolume, PersistentVolumeClaim, Pod
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Result
from setpoint.client.objects import key
from setpoint.client.owners import is_controlled_by
from setpoint.client.store import Store

CLAIM_FINALIZER = "kubernetes.io/pvc-protection"
VOLUME_FINALIZER = "kubernetes.io/pv-protection"
BY_CLAIM = "claim"

Protected = PersistentVolume | PersistentVolumeClaim


def claims_of(pod: Pod) -> list[str]:
    """Keys of the claims that a pod's volumes name or will have made. Index function for BY_CLAIM."""
    names = []
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            names.append(volume.persistent_volume_claim.claim_name)
        elif volume.ephemeral is not None:
            names.append(f"{pod.metadata.name}-{volume.name}")
    return [key(pod.metadata.namespace, name) for name in names]


def is_used(claim: PersistentVolumeClaim, pods: Iterable[Pod]) -> bool:
    """By a pod that has a node: an agent lets no pod start that names a claim on its way out, so others do not count."""
    return any(pod.spec.node_name and _uses(pod, claim) for pod in pods)


def _uses(pod: Pod, claim: PersistentVolumeClaim) -> bool:
    for volume in pod.spec.volumes:
        direct = volume.persistent_volume_claim
        if direct is not None and direct.claim_name == claim.metadata.name:
            return True
    return is_controlled_by(claim.metadata, pod)


class Plan(Struct, frozen=True):
    """The finalizers that the object should have."""

    obj: Protected
    finalizers: tuple[str, ...]


class ProtectionReconciler:
    """Keys are objects of one resource; `is_used` tells whether one must stay."""

    def __init__(
        self,
        client: ClientProtocol,
        resource: Resource[Any],
        store: Store[Any],
        finalizer: str,
        is_used: Callable[[Any], bool],
    ) -> None:
        self._client = client
        self._resource = resource
        self._store = store
        self._finalizer = finalizer
        self._is_used = is_used

    def observe(self, key: str) -> Protected | None:
        obj: Protected | None = self._store.get(key)
        return obj

    def diff(self, obj: Protected) -> Plan | None:
        present = tuple(obj.metadata.finalizers or ())
        protected = self._finalizer in present
        if obj.metadata.deletion_timestamp:
            if not protected or self._is_used(obj):
                return None
            return Plan(obj, tuple(name for name in present if name != self._finalizer))
        return None if protected else Plan(obj, (*present, self._finalizer))

    async def act(self, plan: Plan) -> Result | None:
        meta = plan.obj.metadata
        body = {"metadata": {"resourceVersion": meta.resource_version, "finalizers": list(plan.finalizers) or None}}
        try:
            await self._client.patch(self._resource, meta.name, body, meta.namespace)
        except StatusError as error:
            if error.reason != "NotFound":
                raise
        return None
