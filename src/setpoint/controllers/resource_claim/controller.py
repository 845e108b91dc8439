"""Wiring: pods that have claims, the claims that they have."""

from __future__ import annotations

from setpoint.api.types.core_v1 import PODS, Pod
from setpoint.api.types.resource_v1 import RESOURCECLAIMS, RESOURCECLAIMTEMPLATES, ResourceClaim
from setpoint.client.controller import Controller
from setpoint.client.objects import key, key_of
from setpoint.controllers.component import Context, Several
from setpoint.controllers.resource_claim import claims as claim_side
from setpoint.controllers.resource_claim import names
from setpoint.controllers.resource_claim import pods as pod_side

NAME = "resourceclaim-controller"
RECORDER = "resource_claim"
_BY_CLAIM = "resource claim"


def new(context: Context) -> Several:
    """Both controllers, their handlers registered; nothing runs yet."""
    pods, claims = context.informers.of(PODS), context.informers.of(RESOURCECLAIMS)
    templates = context.informers.of(RESOURCECLAIMTEMPLATES)
    pods.add_index(_BY_CLAIM, names.by_claim)
    claims.add_index(pod_side.BY_POD, names.by_pod)
    maker = pod_side.PodReconciler(context.client, pods.store, claims, templates.store, context.recorder(RECORDER))
    making: Controller[pod_side.Observed, pod_side.Plan] = Controller(
        "pods", maker, context.clock, informers=(pods, claims, templates)
    )
    freeing: Controller[claim_side.Observed, claim_side.Plan] = Controller(
        "claims", claim_side.ClaimReconciler(context.client, claims.store, pods.store), context.clock, informers=(pods, claims)
    )

    def pod_changed(_: str, old: Pod | None, pod: Pod | None) -> None:
        known = pod if pod is not None else old
        if known is None or not (known.spec.resource_claims or known.status.extended_resource_claim_status):
            return
        if pod is None:
            maker.forget(known)
        if pod is None or names.is_done(pod):
            for name in names.known_names(known):
                freeing.enqueue(key(known.metadata.namespace, name))
        elif not pod.metadata.deletion_timestamp:
            making.enqueue(key_of(pod))

    def claim_changed(_: str, old: ResourceClaim | None, claim: ResourceClaim | None) -> None:
        known = claim if claim is not None else old
        if known is None:
            return
        if claim is not None:
            freeing.enqueue(key_of(claim))
        for pod in pods.store.by_index(_BY_CLAIM, key_of(known)):
            making.enqueue(key_of(pod))

    pods.on_change(pod_changed)
    claims.on_change(claim_changed)
    return Several(NAME, (making, freeing))
