"""Which requests are approved, and what is signed."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from setpoint.api.types.certificates_v1 import CERTIFICATESIGNINGREQUESTS, CertificateSigningRequest
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Result
from setpoint.client.store import Store
from setpoint.kit.clock import Clock, rfc3339

CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
SERVING_SIGNER = "kubernetes.io/kubelet-serving"
NODES = "system:nodes"
_MAY_ASK_FOR_NODES = {"system:masters", "system:bootstrappers"}
_YEAR = 365 * 24 * 3600


class Requested(Struct, frozen=True):
    """What a PEM request asks for: the subject, and the host names that a serving certificate would be good for."""

    name: str
    groups: tuple[str, ...]
    hosts: tuple[str, ...] = ()


class Plan(Struct, frozen=True):
    """`approve`: the reason to approve with (empty: it is approved already). A certificate of `seconds` is then signed."""

    request: CertificateSigningRequest
    approve: str
    seconds: int


class Signer:
    """Reads and signs PEM requests; the composition root gives one that holds the CA."""

    def __init__(self, subject: Callable[[bytes], Requested], sign: Callable[[bytes, bool, int], bytes]) -> None:
        self.subject = subject
        self.sign = sign


class CertificateReconciler:
    """Observe the request, diff it against what it may ask for, approve and sign."""

    def __init__(self, client: ClientProtocol, clock: Clock, store: Store[CertificateSigningRequest], signer: Signer) -> None:
        self._client = client
        self._clock = clock
        self._store = store
        self._signer = signer

    def observe(self, key: str) -> CertificateSigningRequest | None:
        return self._store.get(key)

    def diff(self, observed: CertificateSigningRequest) -> Plan | None:
        if observed.status.certificate or observed.spec.signer_name not in (CLIENT_SIGNER, SERVING_SIGNER):
            return None
        conditions = {condition.type for condition in observed.status.conditions}
        if conditions & {"Denied", "Failed"}:
            return None
        subject = self._node(observed)
        if subject is None:
            return None  # whoever approved it: these signers sign for nodes only
        seconds = min(observed.spec.expiration_seconds or _YEAR, _YEAR)
        if "Approved" in conditions:
            return Plan(observed, "", seconds)
        reason = self._approval(observed, subject)
        return Plan(observed, reason, seconds) if reason else None

    def _node(self, request: CertificateSigningRequest) -> Requested | None:
        try:
            subject = self._signer.subject(base64.b64decode(request.spec.request))
        except ValueError:
            return None
        return subject if subject.groups == (NODES,) and subject.name.startswith("system:node:") else None

    def _approval(self, request: CertificateSigningRequest, subject: Requested) -> str:
        """Why a request may be approved by itself; empty: it needs a person."""
        itself = request.spec.username == subject.name
        if request.spec.signer_name == SERVING_SIGNER:
            own = all(host == subject.name.removeprefix("system:node:") for host in subject.hosts)
            return "a node's own serving certificate" if itself and own else ""
        if itself or _MAY_ASK_FOR_NODES & set(request.spec.groups):
            return "a node's client certificate, asked for by itself or by who may bootstrap nodes"
        return ""

    async def act(self, plan: Plan) -> Result | None:
        name = plan.request.metadata.name
        version = plan.request.metadata.resource_version
        if plan.approve:
            approved = await self._patch(name, version, "approval", {"conditions": [self._condition(plan.approve)]})
            version = approved.metadata.resource_version
        serving = plan.request.spec.signer_name == SERVING_SIGNER
        pem = self._signer.sign(base64.b64decode(plan.request.spec.request), serving, plan.seconds)
        await self._patch(name, version, "status", {"certificate": base64.b64encode(pem).decode()})
        return None

    async def _patch(self, name: str, version: str, subresource: str, status: dict[str, Any]) -> CertificateSigningRequest:
        patch = {"metadata": {"resourceVersion": version}, "status": status}
        return await self._client.patch(CERTIFICATESIGNINGREQUESTS, name, patch, subresource=subresource)

    def _condition(self, message: str) -> dict[str, str]:
        now = rfc3339(self._clock.now())
        return {
            "type": "Approved",
            "status": "True",
            "reason": "AutoApproved",
            "message": f"Auto approving: {message}",
            "lastUpdateTime": now,
            "lastTransitionTime": now,
        }
