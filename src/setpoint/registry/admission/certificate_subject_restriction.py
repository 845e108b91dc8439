"""Nobody gets a client certificate for the administrators' group by asking for one.

Source: `plugin/pkg/admission/certificates/subjectrestriction`.
"""

from __future__ import annotations

from setpoint.registry.admission.chain import BaseStep, refuse
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.certificates.pem import request_organizations

_SIGNER = "kubernetes.io/kube-apiserver-client"
_GROUP = "system:masters"


class CertificateSubjectRestriction(BaseStep):
    """Looks into requests for the API client signer."""

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return group_resource == "certificatesigningrequests.certificates.k8s.io" and operation == "CREATE" and not subresource

    async def validate(self, request: AdmissionRequest) -> None:
        spec = (request.obj or {}).get("spec") or {}
        if spec.get("signerName") == _SIGNER and _GROUP in request_organizations(spec.get("request") or ""):
            raise refuse(request, f"use of {_SIGNER} signer with {_GROUP} group is not allowed")
