"""Who approves or signs certificate requests, or attests a trust bundle, must hold that right on the signer (`signers`).

Source: Kubernetes `plugin/pkg/admission/certificates` (approval, signing, ctbattest).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authorization.decision import UnionAuthorizer
from setpoint.apiserver.routing import RequestInfo
from setpoint.registry.admission.chain import BaseStep, Step, refuse
from setpoint.registry.admission.request import AdmissionRequest

_GROUP = "certificates.k8s.io"
_REQUESTS, _BUNDLES = f"certificatesigningrequests.{_GROUP}", f"clustertrustbundles.{_GROUP}"


class CertificateApproval(BaseStep):
    """The right `approve` on the signer that the stored request names."""

    def __init__(self, authorizer: UnionAuthorizer) -> None:
        self._authorizer = authorizer

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return (operation, group_resource, subresource) == ("UPDATE", _REQUESTS, "approval")

    async def validate(self, request: AdmissionRequest) -> None:
        signer = _signer(request.old)
        if not await _may(self._authorizer, request.context.user, "approve", signer):
            raise refuse(request, f'user not permitted to approve requests with signerName "{signer}"')


class CertificateSigning(BaseStep):
    """The right `sign`, where the certificate or a condition is written."""

    def __init__(self, authorizer: UnionAuthorizer) -> None:
        self._authorizer = authorizer

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return (operation, group_resource, subresource) == ("UPDATE", _REQUESTS, "status")

    async def validate(self, request: AdmissionRequest) -> None:
        if _written(request.obj) == _written(request.old):
            return
        signer = _signer(request.old)
        if not await _may(self._authorizer, request.context.user, "sign", signer):
            raise refuse(request, f'user not permitted to sign requests with signerName "{signer}"')


class ClusterTrustBundleAttest(BaseStep):
    """The right `attest`, where a bundle names a signer."""

    def __init__(self, authorizer: UnionAuthorizer) -> None:
        self._authorizer = authorizer

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return operation in {"CREATE", "UPDATE"} and group_resource == _BUNDLES and not subresource

    async def validate(self, request: AdmissionRequest) -> None:
        signer = _signer(request.obj)
        if signer and not await _may(self._authorizer, request.context.user, "attest", signer):
            raise refuse(request, f'user not permitted to attest for signerName "{signer}"')


def signer_steps(authorizer: UnionAuthorizer) -> Mapping[str, Step]:
    """The three plugins, by name."""
    return {
        "CertificateApproval": CertificateApproval(authorizer),
        "CertificateSigning": CertificateSigning(authorizer),
        "ClusterTrustBundleAttest": ClusterTrustBundleAttest(authorizer),
    }


async def _may(authorizer: UnionAuthorizer, user: UserInfo, verb: str, signer: str) -> bool:
    """The right on the signer itself, or on all of its domain."""
    domain = signer.partition("/")[0]
    for name in (signer, f"{domain}/*"):
        info = RequestInfo(is_resource=True, path="", verb=verb, group=_GROUP, version="*", resource="signers", name=name)
        if (await authorizer.decide(user, info)).allowed:
            return True
    return False


def _signer(obj: Mapping[str, Any] | None) -> str:
    signer: str = ((obj or {}).get("spec") or {}).get("signerName") or ""
    return signer


def _written(obj: Mapping[str, Any] | None) -> tuple[Any, Any]:
    status = (obj or {}).get("status") or {}
    return status.get("certificate") or None, status.get("conditions") or None
