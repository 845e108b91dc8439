"""What quotas may bound, and what a secret of a known type must hold."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.x509.oid import NameOID
from tests.registry.builders import Json, complaints, context, created

from setpoint.registry.core.resource_quota import ResourceQuotaStrategy
from setpoint.registry.core.secret import SecretStrategy


def quota(hard: Json, **spec: object) -> list[str]:
    obj = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard, **spec}}
    return complaints(ResourceQuotaStrategy(), obj)


def test_resources_of_quotas() -> None:
    assert quota({"requests.hugepages-2Mi": "4Mi", "hugepages-1Gi": "1Gi", "count/pods": "1"}) == []
    assert quota({"storage": "1Gi"}) == ['spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota']


def test_scopes_that_are_gone_are_null() -> None:
    old: Json = {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}, "scopes": ["BestEffort"]}}
    new: Json = {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}}}
    assert complaints(ResourceQuotaStrategy(), new, old) == ["spec.scopes: Invalid value: null: field is immutable"]


def test_scopes_bound_what_they_are_about() -> None:
    selector = {"matchExpressions": [{"scopeName": "VolumeAttributesClass", "operator": "Exists"}]}
    assert quota({"persistentvolumeclaims": "1", "requests.storage": "1Gi"}, scopeSelector=selector) == []
    (text,) = quota({"pods": "1"}, scopeSelector=selector)
    assert text.startswith("spec.scopeSelector.matchExpressions: Invalid value: ")
    assert text.endswith("unsupported scope applied to resource")
    both = {"matchExpressions": [{"scopeName": name, "operator": "Exists"} for name in ("Terminating", "NotTerminating")]}
    assert quota({"pods": "1"}, scopeSelector=both) == [
        "spec.scopeSelector.matchExpressions: Invalid value: null: conflicting scopes"
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{auths}", "invalid character 'a' looking for beginning of object key string"),
        ('{"auths": {}', "unexpected end of JSON input"),
        ("{}}", "invalid character '}' after top-level value"),
        ("[]", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        ("", "unexpected end of JSON input"),
    ],
)
def test_docker_files_are_json(content: str, problem: str) -> None:
    data = {".dockerconfigjson": base64.b64encode(content.encode()).decode()}
    obj = {"metadata": {"name": "s"}, "type": "kubernetes.io/dockerconfigjson", "data": data}
    assert complaints(SecretStrategy(), obj) == [
        f'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": {problem}'
    ]


def pair(certificate: str, key: str) -> list[str]:
    """What is said of a secret that holds such a certificate and such a key."""
    data = {name: base64.b64encode(text.encode()).decode() for name, text in (("tls.crt", certificate), ("tls.key", key))}
    obj = created(SecretStrategy(), {"metadata": {"name": "s"}, "type": "kubernetes.io/tls", "data": data})
    assert SecretStrategy().validate(context(), obj) == []
    assert SecretStrategy().warnings_on_create(context(), obj) == SecretStrategy().warnings_on_update(context(), obj, obj)
    return SecretStrategy().warnings_on_create(context(), obj)


def block(kind: str, body: str = "AAAA") -> str:
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----\n"


@pytest.fixture(scope="module")
def issued() -> tuple[str, str]:
    """A certificate and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a")])
    since, until = (datetime(year, 1, 1, tzinfo=UTC) for year in (2026, 2027))
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, since, until)
    certificate = builder.sign(key, hashes.SHA256())
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    return certificate.public_bytes(serialization.Encoding.PEM).decode(), key.private_bytes(*form).decode()


def test_a_pair_that_fits_is_not_warned_about(issued: tuple[str, str]) -> None:
    certificate, key = issued
    assert pair(certificate, key) == []
    assert pair(certificate * 2, block("EC PARAMETERS") + key) == []


@pytest.mark.parametrize(
    ("certificate", "key", "wanted"),
    [
        ("", "", "tls: failed to find any PEM data in certificate input"),
        ("a", "b", "tls: failed to find any PEM data in certificate input"),
        (
            block("EC PRIVATE KEY"),
            "b",
            (
                "tls: failed to find certificate PEM data in certificate input, but did find a private key; "
                "PEM inputs may have been switched"
            ),
        ),
        (
            block("A") + block("B"),
            "b",
            (
                'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following '
                "types: [A B]"
            ),
        ),
        (block("CERTIFICATE"), "b", "tls: failed to find any PEM data in key input"),
        (
            block("CERTIFICATE"),
            block("CERTIFICATE"),
            "tls: found a certificate rather than a key in the PEM for the private key",
        ),
        (
            block("CERTIFICATE"),
            block("A") + block("CERTIFICATE"),
            (
                'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the'
                " following types: [A CERTIFICATE]"
            ),
        ),
        (block("CERTIFICATE"), block("PRIVATE KEY"), "x509: malformed certificate"),
    ],
)
def test_pairs_that_are_none(certificate: str, key: str, wanted: str) -> None:
    assert pair(certificate, key) == [wanted]


def test_pairs_that_do_not_fit(issued: tuple[str, str]) -> None:
    certificate, _ = issued
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    other = ec.generate_private_key(ec.SECP256R1()).private_bytes(*form).decode()
    of_another_kind = ed25519.Ed25519PrivateKey.generate().private_bytes(*form).decode()
    assert pair(certificate, block("PRIVATE KEY")) == ["tls: failed to parse private key"]
    assert pair(certificate, block("EC PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\n\nAAAA")) == ["tls: failed to parse private key"]
    assert pair(certificate, other) == ["tls: private key does not match public key"]
    assert pair(certificate, of_another_kind) == ["tls: private key type does not match public key type"]
