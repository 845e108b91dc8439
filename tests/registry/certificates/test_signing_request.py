"""Certificate signing requests: who may change what."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.x509.oid import NameOID
from tests.apiserver.conftest import Api
from tests.registry.builders import complaints, context

from setpoint.registry.certificates import der
from setpoint.registry.certificates.pem import certificate_complaints, request_complaints, request_organizations
from setpoint.registry.certificates.signing_request import (
    SigningRequestApprovalStrategy,
    SigningRequestStatusStrategy,
    SigningRequestStrategy,
)

Json = dict[str, Any]


def request_for(*groups: str) -> str:
    names = [x509.NameAttribute(NameOID.COMMON_NAME, "someone")]
    names += [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    built = (
        x509.CertificateSigningRequestBuilder()
        .subject_name(x509.Name(names))
        .sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    )
    return base64.b64encode(built.public_bytes(serialization.Encoding.PEM)).decode()


def signing_request(*conditions: str, **spec: Any) -> Json:
    entries = [{"type": kind, "status": "True"} for kind in conditions]
    usual = {"request": request_for(), "signerName": "x.example/y", "usages": ["client auth"]}
    return {"metadata": {"name": "r"}, "spec": {**usual, **spec}, "status": {"conditions": entries} if entries else {}}


def test_the_requester_is_who_authenticated() -> None:
    obj = signing_request(username="somebody else", extra={"k": ["v"]})
    SigningRequestStrategy().prepare_for_create(context(), obj)
    assert obj["spec"]["username"] == "kubernetes-admin"
    assert "extra" not in obj["spec"]


def test_approval_takes_conditions_and_stamps_them() -> None:
    old, new = signing_request(), signing_request("Approved")
    new["status"]["certificate"] = "aGk="
    SigningRequestApprovalStrategy().prepare_for_update(context(), new, old)
    [condition] = new["status"]["conditions"]
    assert "certificate" not in new["status"]
    assert condition["lastUpdateTime"] == condition["lastTransitionTime"] == "1970-01-01T00:00:00Z"


def test_status_cannot_give_a_verdict() -> None:
    found = complaints(SigningRequestStatusStrategy(), signing_request("Approved"), signing_request())
    assert found == ['status.conditions: Forbidden: updates may not add a condition of type "Approved"']


def test_what_an_old_request_has_wrong_it_may_keep() -> None:
    old = signing_request(usages=["flying", "flying"], signerName="kubernetes.io/legacy-unknown")
    assert complaints(SigningRequestStrategy(), {**old, "metadata": {"name": "r", "labels": {"a": "b"}}}, old) == []
    assert len(complaints(SigningRequestStrategy(), signing_request(usages=["flying", "flying"]))) == 3


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("words", "must contain at least one CERTIFICATE PEM block"),
        ("-----BEGIN X-----\nYQ==\n-----END X-----", 'only CERTIFICATE PEM blocks are allowed, found "X"'),
        ("-----BEGIN CERTIFICATE-----\nA: b\n\nYQ==\n-----END CERTIFICATE-----", "no PEM block headers are permitted"),
    ],
)
def test_certificates_are_looked_into(text: str, complaint: str) -> None:
    assert certificate_complaints(base64.b64encode(text.encode()).decode()) == [complaint]


def test_requests_are_looked_into() -> None:
    assert request_complaints(request_for()) == []
    assert request_complaints("") == ["PEM block type must be CERTIFICATE REQUEST"]


async def test_nobody_asks_for_the_administrators_group(api: Api) -> None:
    body = signing_request(request=request_for("system:masters"), signerName="kubernetes.io/kube-apiserver-client")
    body.pop("status")
    answer = await api("POST /apis/certificates.k8s.io/v1/certificatesigningrequests", body, code=403)
    assert "system:masters" in answer["message"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a.b/c", []),
        ("A.B/c", ["A.B"]),
        ("a.b/-.-", ["-.-"]),
        ("a/-", ["a", "-"]),
        (f"a.b/{'.'.join(['x' * 200] * 3)}", ["Too long"]),
    ],
)
def test_signer_names_are_told_the_first_bad_label(name: str, why: list[str]) -> None:
    found = complaints(SigningRequestStrategy(), signing_request(signerName=name))
    assert len(found) == len(why)
    assert all(word in each for word, each in zip(why, found, strict=True))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "asn1: syntax error: sequence truncated"),
        (b"0", "asn1: syntax error: truncated tag or length"),
        (b"0\x82\x01", "asn1: syntax error: truncated tag or length"),
        (b"0\x05abc", "asn1: syntax error: data truncated"),
        (b"0\x01abc", "asn1: syntax error: trailing data"),
        (b"0\x81\x01a", ""),
        (
            b"hello",
            (
                "asn1: structure error: tags don't match (16 vs {class:1 tag:8 length:101 isCompound:true}) {optional:false "
                "explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false "
                "omitEmpty:false} certificateRequest @2"
            ),
        ),
    ],
)
def test_what_is_no_sequence_is_told_as_go_does(content: bytes, why: str) -> None:
    assert der.complaint(content, "certificateRequest") == why


def test_a_forged_request_is_told_by_its_kind_of_key() -> None:
    begin, *lines, end, _ = base64.b64decode(request_for("a")).decode().split("\n")
    content = bytearray(base64.b64decode("".join(lines)))
    content[-1] ^= 1  # of the signature
    pem = "\n".join([begin, base64.b64encode(content).decode(), end, ""])
    assert request_complaints(base64.b64encode(pem.encode()).decode()) == ["x509: ECDSA verification failure"]


def test_a_request_with_an_unknown_curve_is_refused() -> None:
    content = base64.b64decode(request_for("a")).decode().split("\n")
    body = bytearray(base64.b64decode("".join(content[1:-2])))
    place = body.index(bytes.fromhex("2a8648ce3d030107")) + 7  # prime256v1
    body[place] = 0x63
    pem = "\n".join([content[0], base64.b64encode(body).decode(), content[-2], ""])
    assert request_complaints(base64.b64encode(pem.encode()).decode())


def test_a_request_whose_subject_is_no_text_is_refused() -> None:
    key = ed25519.Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, "BBBB")])
    built = x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, None)
    whole, signed = built.public_bytes(serialization.Encoding.DER), built.tbs_certrequest_bytes
    spoilt = signed.replace(b"BBBB", b"\xff\xfe\xfd\xfc")
    content = base64.b64encode(whole.replace(signed, spoilt).replace(built.signature, key.sign(spoilt))).decode()
    pem = f"-----BEGIN CERTIFICATE REQUEST-----\n{content}\n-----END CERTIFICATE REQUEST-----\n"
    encoded = base64.b64encode(pem.encode()).decode()
    assert request_complaints(encoded)
    assert request_organizations(encoded) == []
