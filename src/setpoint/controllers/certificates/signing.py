"""Signs what was approved, or says why not. Source: Kubernetes `controller/certificates/signer/signer.go`."""

from __future__ import annotations

import base64
from typing import Any

from msgspec import Struct

from setpoint.api.types.certificates_v1 import CERTIFICATESIGNINGREQUESTS, CertificateSigningRequest
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.store import Store
from setpoint.controllers.certificates.requests import (
    API_SIGNER,
    CLIENT_SIGNER,
    LEGACY_SIGNER,
    REQUESTS,
    SERVING_SIGNER,
    Signer,
    complaint,
    has,
    pem_of,
)
from setpoint.controllers.component import Context
from setpoint.kit.clock import Clock, rfc3339

NAME = "csrsigning"
_SIGNERS = frozenset((API_SIGNER, CLIENT_SIGNER, SERVING_SIGNER, LEGACY_SIGNER))
LONGEST = 365 * 24 * 3600  # seconds, as kube-controller-manager's --cluster-signing-duration
_SHORTEST = 600


class Plan(Struct, frozen=True):
    """Sign for `seconds`, or say that it failed and why."""

    request: CertificateSigningRequest
    seconds: int
    failure: str = ""


class SigningReconciler:
    """Keys are requests."""

    def __init__(self, client: ClientProtocol, clock: Clock, requests: Store[CertificateSigningRequest], signer: Signer) -> None:
        self._client = client
        self._clock = clock
        self._requests = requests
        self._signer = signer

    def observe(self, key: str) -> CertificateSigningRequest | None:
        return self._requests.get(key)

    def diff(self, observed: CertificateSigningRequest) -> Plan | None:
        spec = observed.spec
        if observed.status.certificate or spec.signer_name not in _SIGNERS:
            return None
        if not has(observed, "Approved") or has(observed, "Denied") or has(observed, "Failed"):
            return None
        try:
            failure = complaint(spec.signer_name, self._signer.read(pem_of(observed)), spec.usages)
        except ValueError as error:
            failure = str(error)
        wanted = spec.expiration_seconds
        seconds = LONGEST if wanted is None else max(_SHORTEST, min(wanted, LONGEST))
        return Plan(observed, seconds, failure)

    async def act(self, plan: Plan) -> Result | None:
        spec, failure, pem = plan.request.spec, plan.failure, b""
        if not failure:
            try:
                pem = self._signer.sign(pem_of(plan.request), spec.usages, plan.seconds)
            except ValueError as error:
                failure = str(error)
        held: dict[str, Any] = await self._client.get(REQUESTS, plan.request.metadata.name)
        status = held.setdefault("status", {})
        if failure:
            status["conditions"] = [*(status.get("conditions") or ()), self._failed(failure)]
        else:
            status["certificate"] = base64.b64encode(pem).decode()
        await self._client.update(REQUESTS, held, subresource="status")
        return None

    def _failed(self, message: str) -> dict[str, str]:
        return {
            "type": "Failed",
            "status": "True",
            "reason": "SignerValidationFailure",
            "message": message,
            "lastUpdateTime": rfc3339(self._clock.now()),
        }


def new(context: Context) -> Controller[CertificateSigningRequest, Plan] | None:
    """The controller, its handlers registered; None where nobody signs."""
    signer = context.settings.signer
    if signer is None:
        return None
    requests = context.informers.of(CERTIFICATESIGNINGREQUESTS)
    reconciler = SigningReconciler(context.client, context.clock, requests.store, signer)
    controller: Controller[CertificateSigningRequest, Plan] = Controller(
        NAME, reconciler, context.clock, workers=1, informers=(requests,)
    )

    controller.follow(requests)
    return controller
