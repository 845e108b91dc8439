"""The resources of certificates.k8s.io."""

from __future__ import annotations

from setpoint.registry.certificates.signing_request import (
    SigningRequestApprovalStrategy,
    SigningRequestStatusStrategy,
    SigningRequestStrategy,
)
from setpoint.registry.resource import ServedResource, Subresource
from setpoint.registry.table.rows import CHANGE_VERBS, definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="certificates.k8s.io",
        versions=("v1",),
        plural="certificatesigningrequests",
        singular="certificatesigningrequest",
        kind="CertificateSigningRequest",
        namespaced=False,
        strategy=SigningRequestStrategy(),
        definitions=definitions("certificates", "CertificateSigningRequest"),
        short_names=("csr",),
        subresources=(
            Subresource("approval", CHANGE_VERBS, "CertificateSigningRequest", strategy=SigningRequestApprovalStrategy()),
            status("CertificateSigningRequest", SigningRequestStatusStrategy()),
        ),
    ),
)
