"""Approves what nodes ask for: a client certificate where the asker may have one, as an access review says.

Kubernetes leaves serving certificates to people; here a node's own, for its own name and addresses (see `serving`), is approved
too, so that machines join without anybody's hand. Source: Kubernetes `controller/certificates/approver/sarapprove.go`.
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
from setpoint.client.objects import key_of
from setpoint.client.store import Store
from setpoint.controllers.certificates.requests import (
    CLIENT_SIGNER,
    NODE_PREFIX,
    REQUESTS,
    SERVING_SIGNER,
    Requested,
    Signer,
    complaint,
    has,
    pem_of,
)
from setpoint.controllers.certificates.serving import BY_ADDRESS, Claims, by_address, claims_of, refusal
from setpoint.controllers.component import Context
from setpoint.kit import logs

NAME = "csrapproving"
log = logs.get_logger("controllers.certificates")

_ACCESS_REVIEWS: Resource[Any] = Resource(
    "authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", namespaced=False, type=dict
)
_SERVING = "Auto approving serving certificate of a node for its own name and addresses."


class Observed(Struct, frozen=True):
    """A request, what it asks for (None: that cannot be read), and what its names are held against."""

    request: CertificateSigningRequest
    asked: Requested | None
    claims: Claims


class Plan(Struct, frozen=True):
    """Approve with `message` if the asker may create one of `rights` (each with its own message; none: at once)."""

    request: CertificateSigningRequest
    rights: tuple[tuple[str, str], ...]
    message: str = ""


class ApprovingReconciler:
    """Keys are requests."""

    def __init__(
        self,
        client: ClientProtocol,
        requests: Store[CertificateSigningRequest],
        nodes: Store[Node],
        signer: Signer,
        service_ranges: tuple[str, ...] = (),
    ) -> None:
        self._client = client
        self._requests = requests
        self._nodes = nodes
        self._signer = signer
        self._service_ranges = service_ranges

    def observe(self, key: str) -> Observed | None:
        request = self._requests.get(key)
        if request is None:
            return None
        try:
            asked = self._signer.read(pem_of(request))
        except ValueError:
            return Observed(request, None, Claims(None))
        if request.spec.signer_name != SERVING_SIGNER:
            return Observed(request, asked, Claims(None))
        return Observed(request, asked, claims_of(asked, self._nodes, self._signer.servers(), self._service_ranges))

    def diff(self, observed: Observed) -> Plan | None:
        request, spec, asked = observed.request, observed.request.spec, observed.asked
        if asked is None or request.status.certificate or has(request, "Approved") or has(request, "Denied"):
            return None
        if spec.signer_name not in (CLIENT_SIGNER, SERVING_SIGNER) or complaint(spec.signer_name, asked, spec.usages):
            return None
        itself = spec.username == asked.name
        if spec.signer_name == CLIENT_SIGNER:
            own = (("selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview."),)
            any_node = (("nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview."),)
            return Plan(request, (own if itself else ()) + any_node)
        if not itself:
            return None
        if why := refusal(asked, observed.claims):
            log.info("a request for a serving certificate waits", request=request.metadata.name, node=asked.node, why=why)
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
    nodes.add_index(BY_ADDRESS, by_address)
    ranges = context.settings.service_ranges
    reconciler = ApprovingReconciler(context.client, requests.store, nodes.store, signer, ranges)
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, workers=1, informers=(requests, nodes))

    controller.follow(requests)

    def registered(_: str, old: Node | None, new: Node | None) -> None:
        """A node's request may have come before the Node was seen here, or had its addresses."""
        if new is None or (old is not None and old.status.addresses == new.status.addresses):
            return
        for request in requests.store.list():
            if request.spec.signer_name == SERVING_SIGNER and request.spec.username == NODE_PREFIX + new.metadata.name:
                controller.enqueue(key_of(request))

    nodes.on_change(registered)
    return controller
