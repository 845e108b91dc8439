"""The claims of a pod, and what is written to them: what they get, and for whom it is reserved.

Source: `k8s.io/dynamic-resource-allocation/resourceclaim`, `plugins/dynamicresources` of kube-scheduler.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from setpoint.api.machinery.quantity import parse
from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import PODS, NodeSelectorRequirement, Pod
from setpoint.api.types.resource_v1 import RESOURCECLAIMS, ResourceClaim
from setpoint.client.client import ClientProtocol
from setpoint.client.resource_claims import FINALIZER, NotMade, claim_name
from setpoint.kit.clock import Clock, rfc3339
from setpoint.scheduler.devices.allocator import Gives, Wish
from setpoint.scheduler.devices.capacity import Share
from setpoint.scheduler.devices.pools import DeviceKey
from setpoint.scheduler.framework import Lister

MOST_TRIES = 5
MOST_CONSUMERS = 256  # of one claim


class ClaimError(Exception):
    """A claim of the pod is not there, or not for it; the text is Kubernetes' own."""


def claims_of(pod: Pod, claims: Lister) -> list[ResourceClaim]:
    """Raises ClaimError."""
    meta = pod.metadata
    found = []
    for entry in pod.spec.resource_claims:
        try:
            name = claim_name(pod, entry)
        except NotMade as error:
            raise ClaimError(str(error)) from error
        if name is None:
            continue
        claim: ResourceClaim | None = claims.get(f"{meta.namespace}/{name}")
        if claim is None:
            raise ClaimError(f'resourceclaim "{name}" not found')
        if claim.metadata.deletion_timestamp is not None:
            raise ClaimError(f'resourceclaim "{name}" is being deleted')
        if entry.resource_claim_name is None and not _is_owned(claim, pod):
            where = f"ResourceClaim {meta.namespace}/{name} was not created for pod {meta.namespace}/{meta.name}"
            raise ClaimError(f"{where} (pod is not owner)")
        found.append(claim)
    return found


def _is_owned(claim: ResourceClaim, pod: Pod) -> bool:
    return any(each.controller and each.uid == pod.metadata.uid for each in claim.metadata.owner_references or ())


def is_reserved(claim: ResourceClaim, pod: Pod) -> bool:
    return any(each.uid == pod.metadata.uid for each in claim.status.reserved_for)


def is_crowded(claim: ResourceClaim) -> bool:
    """It serves as many as it may."""
    return claim.status.allocation is not None and len(claim.status.reserved_for) >= MOST_CONSUMERS


def devices_of(claim: ResourceClaim) -> list[DeviceKey]:
    """The devices that nobody else can have; administrators' access takes none."""
    allocation = claim.status.allocation
    results = allocation.devices.results if allocation is not None else ()
    return [(each.driver, each.pool, each.device) for each in results if not each.admin_access and each.share_id is None]


def shares_of(claim: ResourceClaim) -> list[tuple[DeviceKey, Share]]:
    """What the claim has of devices that others may have, too."""
    allocation = claim.status.allocation
    shared = [each for each in allocation.devices.results if each.share_id is not None] if allocation is not None else ()
    return [
        ((each.driver, each.pool, each.device), {name: parse(amount) for name, amount in each.consumed_capacity.items()})
        for each in shared
    ]


def allocation(claim: ResourceClaim, gives: Gives, now: float) -> dict[str, Any]:
    """`status.allocation`."""
    results = [_result(given) for given in gives]
    written: dict[str, Any] = {"allocationTimestamp": rfc3339(now), "devices": {"results": results}}
    if config := [*_config(claim, gives)]:
        written["devices"]["config"] = config
    if selector := _node_selector(gives):
        written["nodeSelector"] = selector
    return written


def _result(given: Any) -> dict[str, Any]:
    driver, pool, device = given.offer.key
    result: dict[str, Any] = {"request": given.wish.name, "driver": driver, "pool": pool, "device": device}
    if given.wish.admin:
        result["adminAccess"] = True
    if given.share is not None:
        result["shareID"] = _new_share_id()
        if given.share:
            result["consumedCapacity"] = {name: str(amount) for name, amount in given.share.items()}
    if given.offer.device.binding_conditions:
        result["bindingConditions"] = [*given.offer.device.binding_conditions]
    if given.offer.device.binding_failure_conditions:
        result["bindingFailureConditions"] = [*given.offer.device.binding_failure_conditions]
    if given.wish.tolerations:
        result["tolerations"] = msgspec.to_builtins(given.wish.tolerations)
    return result


def _new_share_id() -> str:
    from uuid import uuid4

    return str(uuid4())


def _config(claim: ResourceClaim, gives: Gives) -> list[dict[str, Any]]:
    """Of the classes of the requests served, each class once, then of the claim itself what means them.

    What means all requests names none.
    """
    by_class: dict[str, list[Wish]] = {}
    for wish in {given.wish.name: given.wish for given in gives}.values():
        by_class.setdefault(wish.device_class.metadata.name, []).append(wish)
    found: list[tuple[str, list[str], Any]] = []
    for wishes in by_class.values():
        found += [("FromClass", [wish.name for wish in wishes], each) for each in wishes[0].device_class.spec.config]
    served = {given.wish.name for given in gives}
    for each in claim.spec.devices.config:
        meant = [name for name in served if {name, name.partition("/")[0]} & {*each.requests}]
        found += [("FromClaim", [*each.requests], each)] * (len(meant) if each.requests else 1)
    total = len(claim.spec.devices.requests or ())
    return [
        {"source": source, **({"requests": requests} if requests and len(requests) != total else {}), **_opaque(each)}
        for source, requests, each in found
    ]


def _opaque(config: Any) -> dict[str, Any]:
    return {} if config.opaque is None else {"opaque": msgspec.to_builtins(config.opaque)}


def _node_selector(gives: Gives) -> dict[str, Any] | None:
    """Where all of the devices can be used; None for everywhere."""
    fields: list[NodeSelectorRequirement] = []
    expressions: list[NodeSelectorRequirement] = []
    for given in gives:
        if given.offer.node_name:
            return _term(matchFields=[{"key": "metadata.name", "operator": "In", "values": [given.offer.node_name]}])
        selector = given.offer.node_selector
        for term in selector.node_selector_terms or () if selector is not None else ():
            fields += [each for each in term.match_fields if each not in fields]
            expressions += [each for each in term.match_expressions if each not in expressions]
    if not fields and not expressions:
        return None
    return _term(matchFields=msgspec.to_builtins(fields), matchExpressions=msgspec.to_builtins(expressions))


def _term(**requirements: Sequence[Any]) -> dict[str, Any]:
    return {"nodeSelectorTerms": [{key: value for key, value in requirements.items() if value}]}


class ClaimWriter:
    """Cancelled between the two writes, it leaves a claim that is protected for nothing: whoever allocates it next needs that."""

    def __init__(self, client: ClientProtocol, clock: Clock) -> None:
        self._client = client
        self._clock = clock

    async def bind(self, claim: ResourceClaim, pod: Pod, gives: Gives | None) -> ResourceClaim:
        """Reserve the claim for the pod; with `gives`, allocate it. Raises ClaimError, StatusError, TransportError."""
        meta = claim.metadata
        for _ in range(MOST_TRIES - 1):
            try:
                return await self._bind(claim, pod, gives)
            except StatusError as error:
                if error.reason != "Conflict":
                    raise
                claim = await self._client.get(RESOURCECLAIMS, meta.name, meta.namespace)
        return await self._bind(claim, pod, gives)

    async def _bind(self, claim: ResourceClaim, pod: Pod, gives: Gives | None) -> ResourceClaim:
        meta = claim.metadata
        named = f"claim {meta.namespace}/{meta.name}"
        if meta.deletion_timestamp is not None:
            raise ClaimError(f"{named} got deleted in the meantime")
        if is_reserved(claim, pod):
            return claim
        status: dict[str, Any] = {}
        if gives is not None:
            if claim.status.allocation is not None:
                raise ClaimError(f"{named} got allocated elsewhere in the meantime")
            finalizers = [*(meta.finalizers or ())]
            if FINALIZER not in finalizers:
                claim = await self._patch(claim, {"finalizers": [*finalizers, FINALIZER]}, {}, "")
            status["allocation"] = allocation(claim, gives, self._clock.now())
        consumer = {"resource": "pods", "name": pod.metadata.name, "uid": pod.metadata.uid}
        status["reservedFor"] = [*msgspec.to_builtins(claim.status.reserved_for), consumer]
        return await self._patch(claim, {}, {"status": status}, "status")

    async def release(self, claim: ResourceClaim, pod: Pod) -> None:
        """Take the pod's reservation back; those of others stay. Raises StatusError, TransportError."""
        gone = {"$patch": "delete", "uid": pod.metadata.uid}
        body = {"metadata": {"uid": claim.metadata.uid}, "status": {"reservedFor": [gone]}}
        meta = claim.metadata
        await self._client.patch(RESOURCECLAIMS, meta.name, body, meta.namespace, kind="strategic", subresource="status")

    async def make(self, body: Mapping[str, Any], namespace: str) -> ResourceClaim:
        """Raises StatusError, TransportError."""
        return await self._client.create(RESOURCECLAIMS, body, namespace)

    async def note(self, pod: Pod, status: Mapping[str, Any]) -> None:
        """Tell the pod of the claim that was made for its extended resources. Raises StatusError, TransportError."""
        meta = pod.metadata
        body = {"metadata": {"uid": meta.uid}, "status": {"extendedResourceClaimStatus": status}}
        await self._client.patch(PODS, meta.name, body, meta.namespace, kind="strategic", subresource="status")

    async def remove(self, claim: ResourceClaim) -> None:
        """A claim that was made in vain goes with all it holds. Raises StatusError, TransportError."""
        meta = claim.metadata
        try:
            known = await self._client.get(RESOURCECLAIMS, meta.name, meta.namespace)
            if known.metadata.uid != meta.uid:
                return
            if FINALIZER in (known.metadata.finalizers or ()):
                left = [each for each in known.metadata.finalizers or () if each != FINALIZER]
                await self._patch(known, {"finalizers": left or None}, {}, "")
            await self._client.delete(RESOURCECLAIMS, meta.name, meta.namespace, uid=meta.uid)
        except StatusError as error:
            if error.code != HTTPStatus.NOT_FOUND:
                raise

    async def deallocate(self, claim: ResourceClaim) -> None:
        """Its devices are given back, so that it can have others. Raises StatusError, TransportError."""
        await self._patch(claim, {}, {"status": {"reservedFor": None, "allocation": None, "devices": None}}, "status")

    async def _patch(self, claim: ResourceClaim, metadata: Any, rest: Any, subresource: str) -> ResourceClaim:
        """Of the very version that was judged."""
        meta = claim.metadata
        body = {"metadata": {"uid": meta.uid, "resourceVersion": meta.resource_version, **metadata}, **rest}
        return await self._client.patch(RESOURCECLAIMS, meta.name, body, meta.namespace, subresource=subresource)
