"""The view of a claim: reservations of pods that are gone or over end, and with the last one what the claim holds."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec
from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import PODS, Pod
from setpoint.api.types.resource_v1 import RESOURCECLAIMS, ResourceClaim, ResourceClaimConsumerReference
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Result
from setpoint.client.objects import key
from setpoint.client.resource_claims import FINALIZER
from setpoint.client.store import Store
from setpoint.controllers.resource_claim import names


class Observed(Struct, frozen=True):
    """A claim, the uids of consumers that use it no more, and whether the pod that it was made for will not use it."""

    claim: ResourceClaim
    over: Collection[str] = ()
    unwanted: bool = False


class Plan(Struct, frozen=True):
    """The consumers that the claim keeps, None for all; whether what was allocated is given back; what else is to be done."""

    claim: ResourceClaim
    keep: tuple[ResourceClaimConsumerReference, ...] | None = None
    deallocate: bool = False
    unprotect: bool = False
    delete: bool = False


def diff(observed: Observed) -> Plan | None:
    """Pure."""
    claim = observed.claim
    held = claim.status.reserved_for
    left = tuple(each for each in held if each.uid not in observed.over)
    protected = FINALIZER in (claim.metadata.finalizers or ())
    idle = not left and protected and (bool(held) or bool(claim.metadata.deletion_timestamp))
    allocated = claim.status.allocation is not None
    deallocate = idle and allocated
    unprotect = protected and (idle or (len(left) < len(held) and not allocated))
    delete = not left and observed.unwanted and not claim.metadata.deletion_timestamp
    if len(left) == len(held) and not (deallocate or unprotect or delete):
        return None
    return Plan(claim, left if len(left) < len(held) else None, deallocate, unprotect, delete)


class ClaimReconciler:
    """Keys are claims."""

    def __init__(self, client: ClientProtocol, claims: Store[ResourceClaim], pods: Store[Pod]) -> None:
        self._client = client
        self._claims = claims
        self._pods = pods

    async def observe(self, name: str) -> Observed | None:
        claim = self._claims.get(name)
        if claim is None:
            return None
        consumers = [each for each in claim.status.reserved_for if (each.api_group, each.resource) == ("", "pods")]
        over = [each.uid for each in consumers if await self._is_over(claim.metadata.namespace, each)]
        return Observed(claim, over, self._is_unwanted(claim))

    async def _is_over(self, namespace: str, consumer: ResourceClaimConsumerReference) -> bool:
        """Whether a pod uses its claims no more; one that the cache does not show may be new to it, so the server is asked."""
        pod = self._pods.get(key(namespace, consumer.name))
        if pod is None:
            try:
                pod = await self._client.get(PODS, consumer.name, namespace)
            except StatusError as error:
                if error.code != 404:
                    raise
                return True
            return bool(pod.metadata.uid != consumer.uid)
        return pod.metadata.uid != consumer.uid or names.is_done(pod)

    def _is_unwanted(self, claim: ResourceClaim) -> bool:
        """A pod that the cache does not show may be on its way there: the garbage collector knows."""
        for name, uid in names.owning_pods(claim):
            pod = self._pods.get(key(claim.metadata.namespace, name))
            return pod is not None and (pod.metadata.uid != uid or names.is_done(pod))
        return False

    def diff(self, observed: Observed) -> Plan | None:
        return diff(observed)

    async def act(self, plan: Plan) -> Result | None:
        claim, meta = plan.claim, plan.claim.metadata
        if plan.keep is not None or plan.deallocate:
            status: dict[str, Any] = {}
            if plan.keep is not None:
                status["reservedFor"] = msgspec.to_builtins(plan.keep) or None
            if plan.deallocate:
                status["allocation"] = None
            claim = await self._patch(claim, {}, {"status": status}, "status")
        if plan.unprotect:
            finalizers = [each for each in claim.metadata.finalizers or () if each != FINALIZER]
            await self._patch(claim, {"finalizers": finalizers or None}, {}, "")
        if plan.delete:
            try:
                await self._client.delete(RESOURCECLAIMS, meta.name, meta.namespace, uid=meta.uid)
            except StatusError as error:
                if error.code != 404:
                    raise
        return None

    async def _patch(self, claim: ResourceClaim, metadata: Any, rest: Any, subresource: str) -> ResourceClaim:
        """Of the very version that was judged: somebody else may reserve it meanwhile."""
        meta = claim.metadata
        body = {"metadata": {"resourceVersion": meta.resource_version, **metadata}, **rest}
        return await self._client.patch(RESOURCECLAIMS, meta.name, body, meta.namespace, subresource=subresource)
