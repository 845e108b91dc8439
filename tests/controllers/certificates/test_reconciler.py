from __future__ import annotations

import base64
from pathlib import Path
from typing import Any, cast

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from setpoint.api.types.certificates_v1 import (
    CertificateSigningRequest,
    CertificateSigningRequestCondition,
    CertificateSigningRequestSpec,
    CertificateSigningRequestStatus,
)
from setpoint.apiserver.pki import Authority, Subject
from setpoint.apiserver.signing import new_request, requested_subject
from setpoint.controllers.certificates.reconciler import CLIENT_SIGNER, SERVING_SIGNER, CertificateReconciler, Requested, Signer
from setpoint.kit.clock import VirtualClock

NODE = Subject("system:node:n1", ("system:nodes",), ("127.0.0.1", "n1"))


@pytest.fixture
def reconciler(tmp_path: Path) -> CertificateReconciler:
    authority = Authority(tmp_path)

    def subject(pem: bytes) -> Requested:
        found = requested_subject(pem)
        return Requested(found.name, found.groups, found.addresses)

    signer = Signer(subject, lambda pem, serving, seconds: authority.sign_request(pem, serving=serving, seconds=seconds))
    nothing = cast("Any", None)
    return CertificateReconciler(nothing, VirtualClock(), nothing, signer)


def request(
    subject: Subject, signer: str, username: str, groups: tuple[str, ...] = (), conditions: tuple[str, ...] = ()
) -> CertificateSigningRequest:
    pem, _ = new_request(subject)
    return CertificateSigningRequest(
        spec=CertificateSigningRequestSpec(
            request=base64.b64encode(pem).decode(), signer_name=signer, username=username, groups=groups
        ),
        status=CertificateSigningRequestStatus(
            conditions=tuple(CertificateSigningRequestCondition(type=kind, status="True") for kind in conditions)
        ),
    )


def test_who_may_bootstrap_gets_a_node_certificate(reconciler: CertificateReconciler) -> None:
    plan = reconciler.diff(request(NODE, CLIENT_SIGNER, "admin", ("system:masters",)))
    assert plan is not None
    assert plan.approve


def test_a_node_gets_its_own_serving_certificate_and_no_others(reconciler: CertificateReconciler) -> None:
    assert reconciler.diff(request(NODE, SERVING_SIGNER, "system:node:n1", ("system:nodes",))) is not None
    assert reconciler.diff(request(NODE, SERVING_SIGNER, "system:node:n2", ("system:nodes",))) is None


def test_nobody_gets_a_certificate_of_another_kind_of_user_even_if_approved(reconciler: CertificateReconciler) -> None:
    root = Subject("root", ("system:masters",))
    assert reconciler.diff(request(root, CLIENT_SIGNER, "admin", ("system:masters",), ("Approved",))) is None


def test_denied_and_foreign_requests_are_left_alone(reconciler: CertificateReconciler) -> None:
    assert reconciler.diff(request(NODE, CLIENT_SIGNER, "system:node:n1", ("system:nodes",), ("Denied",))) is None
    assert reconciler.diff(request(NODE, "example.com/signer", "system:node:n1", ("system:nodes",))) is None
    assert reconciler.diff(request(NODE, CLIENT_SIGNER, "somebody", ("developers",))) is None


def test_the_signed_certificate_serves_the_addresses_asked_for(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    pem, _ = new_request(NODE)
    certificate = x509.load_pem_x509_certificate(authority.sign_request(pem, serving=True, seconds=3600))
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert {str(name.value) for name in names} == {"127.0.0.1", "n1"}
    assert list(certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value) == [ExtendedKeyUsageOID.SERVER_AUTH]


def test_a_node_gets_no_serving_certificate_for_other_names(reconciler: CertificateReconciler) -> None:
    greedy = Subject(NODE.name, NODE.groups, ("127.0.0.1", "n1", "kubernetes.default.svc"))
    assert reconciler.diff(request(greedy, SERVING_SIGNER, "system:node:n1", ("system:nodes",))) is None
