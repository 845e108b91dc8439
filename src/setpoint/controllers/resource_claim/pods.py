"""The view of a pod: the claims of its templates are made, and one that is allocated is reserved for a pod that has a node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import PODS, Pod, PodResourceClaim
from setpoint.api.types.resource_v1 import RESOURCECLAIMS, ResourceClaim, ResourceClaimTemplate
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Result
from setpoint.client.events import EventRecorder
from setpoint.client.informer import Informer
from setpoint.client.objects import key
from setpoint.client.owners import is_controlled_by
from setpoint.client.resource_claims import NotMade, claim_name
from setpoint.client.store import Store
from setpoint.controllers.freshness import version
from setpoint.controllers.resource_claim import names
from setpoint.controllers.resource_claim.names import ANNOTATION

BY_POD = "pod"
_MANAGER = "ResourceClaimController"  # the name under which statuses of pods are applied


class Observed(Struct, frozen=True):
    """A pod; by entry of its claims the claim that is there for it (None: it needs none), by name the templates."""

    pod: Pod
    claims: Mapping[str, ResourceClaim | None]
    templates: Mapping[str, ResourceClaimTemplate]


class Plan(Struct, frozen=True):
    """Claims to make, what the pod's status is to say of all (None: it does), and claims to reserve for the pod.

    `missing` is the first entry whose template is not there.
    """

    pod: Pod
    make: tuple[tuple[PodResourceClaim, ResourceClaimTemplate], ...] = ()
    noted: Mapping[str, str] | None = None
    reserve: tuple[ResourceClaim, ...] = ()
    missing: PodResourceClaim | None = None


def diff(observed: Observed) -> Plan | None:
    """Pure."""
    pod, claims = observed.pod, observed.claims
    if pod.metadata.deletion_timestamp or names.is_done(pod):
        return None
    make: list[tuple[PodResourceClaim, ResourceClaimTemplate]] = []
    for entry in pod.spec.resource_claims:
        name = entry.resource_claim_template_name
        if name is None or entry.name in claims:
            continue
        template = observed.templates.get(name)
        if template is None:
            return Plan(pod, tuple(make), missing=entry)
        make.append((entry, template))
    present = {name: claim for name, claim in claims.items() if claim is not None}
    templated = {entry.name for entry in pod.spec.resource_claims if entry.resource_claim_template_name is not None}
    told = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
    noted = {name: claim.metadata.name for name, claim in present.items() if name in templated}
    tell = bool(make) or any(told.get(name) != claim for name, claim in noted.items())
    reserve = tuple(claim for claim in present.values() if _is_to_reserve(pod, claim))
    plan = Plan(pod, tuple(make), noted if tell else None, reserve)
    return plan if make or tell or reserve else None


def _is_to_reserve(pod: Pod, claim: ResourceClaim) -> bool:
    """Without the scheduler, which reserves before it binds: somebody named the node himself."""
    held = any(each.uid == pod.metadata.uid for each in claim.status.reserved_for)
    return bool(pod.spec.node_name) and claim.status.allocation is not None and not held


def body(pod: Pod, entry: PodResourceClaim, template: ResourceClaimTemplate) -> dict[str, Any]:
    """The claim for one entry."""
    given, owner = template.spec.metadata, pod.metadata
    reference = {"apiVersion": PODS.api_version, "kind": PODS.kind, "name": owner.name, "uid": owner.uid, "controller": True}
    metadata: dict[str, Any] = {
        "generateName": names.generate_name(owner.name, entry.name),
        "ownerReferences": [reference],
        "annotations": {**(given.annotations or {}), ANNOTATION: entry.name},
    }
    if given.labels:
        metadata["labels"] = dict(given.labels)
    return {"metadata": metadata, "spec": msgspec.to_builtins(template.spec.spec)}


class PodReconciler:
    """Keys are pods. It remembers what it made until the cache shows it: a claim must not be made twice."""

    def __init__(
        self,
        client: ClientProtocol,
        pods: Store[Pod],
        claims: Informer[ResourceClaim],
        templates: Store[ResourceClaimTemplate],
        recorder: EventRecorder,
    ) -> None:
        self._client = client
        self._pods = pods
        self._claims = claims
        self._templates = templates
        self._recorder = recorder
        self._made: dict[tuple[str, str], ResourceClaim] = {}

    def forget(self, pod: Pod) -> None:
        """The pod is gone."""
        for entry in pod.spec.resource_claims:
            self._made.pop((pod.metadata.uid, entry.name), None)

    def observe(self, name: str) -> Observed | None:
        pod = self._pods.get(name)
        if pod is None:
            return None
        claims: dict[str, ResourceClaim | None] = {}
        for entry in pod.spec.resource_claims:
            if (claim := self._claim(pod, entry)) is not None:
                claims[entry.name] = claim
            elif self._needs_none(pod, entry):
                claims[entry.name] = None
        wanted = {entry.resource_claim_template_name for entry in pod.spec.resource_claims}
        templates = {each: self._templates.get(key(pod.metadata.namespace, each)) for each in wanted if each is not None}
        return Observed(pod, claims, {name: template for name, template in templates.items() if template is not None})

    def _needs_none(self, pod: Pod, entry: PodResourceClaim) -> bool:
        """The pod's status says so."""
        told = pod.status.resource_claim_statuses
        return any(each.name == entry.name and each.resource_claim_name is None for each in told)

    def _claim(self, pod: Pod, entry: PodResourceClaim) -> ResourceClaim | None:
        """The claim for an entry, be it that the cache does not show it yet; None if there is none."""
        made = self._made.get((pod.metadata.uid, entry.name))
        if made is not None:
            if version(self._claims.resource_version) < version(made.metadata.resource_version):
                return made
            del self._made[pod.metadata.uid, entry.name]
        try:
            name = claim_name(pod, entry)
        except NotMade:
            name = ""
        claim = self._claims.store.get(key(pod.metadata.namespace, name)) if name else None
        if claim is not None and (entry.resource_claim_template_name is None or is_controlled_by(claim.metadata, pod)):
            return claim
        own = self._claims.store.by_index(BY_POD, pod.metadata.uid)
        return next((each for each in own if (each.metadata.annotations or {}).get(ANNOTATION) == entry.name), None)

    def diff(self, observed: Observed) -> Plan | None:
        return diff(observed)

    async def act(self, plan: Plan) -> Result | None:
        pod, made = plan.pod, {}
        for entry, template in plan.make:
            made[entry.name] = await self._make(pod, entry, template)
        if plan.missing is not None:
            name = plan.missing.resource_claim_template_name
            why = f'resource claim template "{name}": resourceclaimtemplate.resource.k8s.io "{name}" not found'
            self._tell(pod, plan.missing, why)
            raise StatusError(404, "NotFound", why)  # looked for again, ever more seldom
        if plan.noted is not None:
            statuses = [{"name": name, "resourceClaimName": claim} for name, claim in {**plan.noted, **made}.items()]
            meta = pod.metadata
            status = {"metadata": {"name": meta.name, "uid": meta.uid}, "status": {"resourceClaimStatuses": statuses}}
            await self._client.apply(PODS, status, meta.namespace, force=True, subresource="status", manager=_MANAGER)
        for claim in plan.reserve:
            await self._reserve(pod, claim)
        return None

    def _tell(self, pod: Pod, entry: PodResourceClaim, why: str) -> None:
        self._recorder.event(pod, "Warning", "FailedResourceClaimCreation", f"PodResourceClaim {entry.name}: {why}")

    async def _make(self, pod: Pod, entry: PodResourceClaim, template: ResourceClaimTemplate) -> str:
        try:
            made = await self._client.create(RESOURCECLAIMS, body(pod, entry, template), pod.metadata.namespace)
        except Exception as error:
            self._tell(pod, entry, f"create ResourceClaim : {error}")
            raise
        self._made[pod.metadata.uid, entry.name] = made
        return made.metadata.name

    async def _reserve(self, pod: Pod, claim: ResourceClaim) -> None:
        consumer = {"resource": "pods", "name": pod.metadata.name, "uid": pod.metadata.uid}
        held = msgspec.to_builtins(claim.status.reserved_for)
        meta = claim.metadata
        patch = {"metadata": {"resourceVersion": meta.resource_version}, "status": {"reservedFor": [*held, consumer]}}
        await self._client.patch(RESOURCECLAIMS, meta.name, patch, meta.namespace, subresource="status")
