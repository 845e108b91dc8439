"""The resources of certificates.k8s.io."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource, Subresource
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.table.rows import CHANGE_VERBS, definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="certificates.k8s.io",
        versions=("v1",),
        plural="certificatesigningrequests",
        singular="certificatesigningrequest",
        kind="CertificateSigningRequest",
        namespaced=False,
        strategy=SpecStatusStrategy(),
        definitions=definitions("certificates", "CertificateSigningRequest"),
        short_names=("csr",),
        subresources=(
            Subresource("approval", CHANGE_VERBS, "CertificateSigningRequest", strategy=SpecStatusStrategy()),
            status("CertificateSigningRequest", StatusStrategy(SpecStatusStrategy())),
        ),
    ),
)
