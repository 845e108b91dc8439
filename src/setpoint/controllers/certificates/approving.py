"""Approves what nodes ask for: a client certificate where the asker may have one, as an access review says.

Kubernetes leaves serving certificates to people; here a node's own, for its own name and addresses, is approved too, so that
machines join without anybody's hand. Source: Kubernetes `controller/certificates/approver/sarapprove.go`.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from setpoint.api.machinery.resource import Resource
from setpoint.api.types.certificates_v1 import CERTIFICATESIGNINGREQUESTS, CertificateSigningRequest
from setpoint.api.types.core_v1 import NODES as NODE_OBJECTS
from setpoint.api.types.core_v1 import Node
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.store import Store
from setpoint.controllers.certificates.requests import CLIENT_SIGNER, REQUESTS, SERVING_SIGNER, Signer, complaint, has, pem_of
from setpoint.controllers.component import Context
from setpoint.kit import logs

NAME = "csrapproving"
log = logs.get_logger("controllers.certificates")

_ACCESS_REVIEWS: Resource[Any] = Resource(
    "authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", namespaced=False, type=dict
)
_SERVING = "Auto approving serving certificate of a node for its own name and addresses."


class Observed(Struct, frozen=True):
    """A request, and the addresses that its node tells of itself (None: there is no such node yet)."""

    request: CertificateSigningRequest
    addresses: frozenset[str] | None


class Plan(Struct, frozen=True):
    """Approve with `message` if the asker may create one of `rights` (each with its own message; none: at once)."""

    request: CertificateSigningRequest
    rights: tuple[tuple[str, str], ...]
    message: str = ""


class ApprovingReconciler:
    """Keys are requests."""

    def __init__(
        self, client: ClientProtocol, requests: Store[CertificateSigningRequest], nodes: Store[Node], signer: Signer
    ) -> None:
        self._client = client
        self._requests = requests
        self._nodes = nodes
        self._signer = signer

    def observe(self, key: str) -> Observed | None:
        request = self._requests.get(key)
        if request is None:
            return None
        node = self._nodes.get(request.spec.username.removeprefix("system:node:"))
        addresses = frozenset(each.address for each in node.status.addresses) if node is not None else None
        return Observed(request, addresses or None)

    def diff(self, observed: Observed) -> Plan | None:
        request, spec = observed.request, observed.request.spec
        if request.status.certificate or has(request, "Approved") or has(request, "Denied"):
            return None
        try:
            asked = self._signer.read(pem_of(request))
        except ValueError:
            return None
        if spec.signer_name not in (CLIENT_SIGNER, SERVING_SIGNER) or complaint(spec.signer_name, asked, spec.usages):
            return None
        itself = spec.username == asked.name
        if spec.signer_name == CLIENT_SIGNER:
            own = (("selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview."),)
            any_node = (("nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview."),)
            return Plan(request, (own if itself else ()) + any_node)
        theirs = observed.addresses
        if not itself or {*asked.dns_names} - {asked.node} or (theirs is not None and {*asked.ip_addresses} - theirs):
            return None
        return Plan(request, (), _SERVING)

    async def act(self, plan: Plan) -> Result | None:
        message = plan.message or await self._granted(plan)
        if not message:
            log.info("a request for a certificate waits for a person", request=plan.request.metadata.name)
            return None
        held: dict[str, Any] = await self._client.get(REQUESTS, plan.request.metadata.name)
        status = held.setdefault("status", {})
        condition = {"type": "Approved", "status": "True", "reason": "AutoApproved", "message": message}
        status["conditions"] = [*(status.get("conditions") or ()), condition]
        await self._client.update(REQUESTS, held, subresource="approval")
        return None

    async def _granted(self, plan: Plan) -> str:
        """The message of the first right that the asker has; empty for none."""
        spec = plan.request.spec
        for right, message in plan.rights:
            asked = {
                "user": spec.username,
                "uid": spec.uid,
                "groups": list(spec.groups),
                "extra": {name: list(values) for name, values in spec.extra.items()},
                "resourceAttributes": {
                    "group": "certificates.k8s.io",
                    "resource": "certificatesigningrequests",
                    "verb": "create",
                    "subresource": right,
                },
            }
            review = await self._client.create(_ACCESS_REVIEWS, {"spec": asked})
            if (review.get("status") or {}).get("allowed"):
                return message
        return ""


def new(context: Context) -> Controller[Observed, Plan] | None:
    """The controller, its handlers registered; None where nobody signs."""
    signer = context.settings.signer
    if signer is None:
        return None
    requests = context.informers.of(CERTIFICATESIGNINGREQUESTS)
    nodes = context.informers.of(NODE_OBJECTS)
    reconciler = ApprovingReconciler(context.client, requests.store, nodes.store, signer)
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, workers=1, informers=(requests, nodes))

    controller.follow(requests)
    return controller
