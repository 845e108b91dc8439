"""Certificate requests and certificates, as far as the API looks into them.

Source: `pkg/apis/certificates/helpers.go`, `pkg/apis/certificates/validation`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from setpoint.registry.certificates import der

if TYPE_CHECKING:
    from cryptography import x509

_BLOCK = re.compile(rb"-----BEGIN ([^\n-]+)-----\r?\n(.*?)-----END \1-----", re.DOTALL)
_HEADER = re.compile(rb"^[^\n:]+:[^\n]*$", re.MULTILINE)


class Unreadable(ValueError):
    """Why a request makes no sense, as Go says it."""


def blocks(text: bytes) -> Iterator[tuple[str, bytes]]:
    """Type and base64 text of each block, without its headers."""
    for match in _BLOCK.finditer(text):
        yield match.group(1).decode(errors="replace"), _HEADER.sub(b"", match.group(2))


def request_complaints(encoded: str) -> list[str]:
    """What is wrong with a PEM-encoded PKCS#10 request (given as base64)."""
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        request = _request(encoded)
        return [] if request.is_signature_valid else [_forged(request)]
    except UnsupportedAlgorithm:
        return ["x509: unsupported elliptic curve"]
    except ValueError as error:  # also a key that is none
        return [str(error)]


def _request(encoded: str) -> x509.CertificateSigningRequest:
    match = _BLOCK.search(base64.b64decode(encoded))
    if match is None or match.group(1) != b"CERTIFICATE REQUEST":
        raise Unreadable("PEM block type must be CERTIFICATE REQUEST")
    from cryptography import x509

    try:
        request = x509.load_pem_x509_csr(match.group(0) + b"\n")
        _ = request.subject  # is read only when it is asked for
    except ValueError as error:
        raise Unreadable(der.complaint(_content(match.group(2)), "certificateRequest") or str(error)) from error
    return request


def _content(body: bytes) -> bytes:
    """What a PEM block holds."""
    try:
        return base64.b64decode(body)
    except ValueError:
        return b""


def _forged(request: x509.CertificateSigningRequest) -> str:
    """As Go says that a signature is not of the request's key."""
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    match request.public_key():
        case ec.EllipticCurvePublicKey():
            return "x509: ECDSA verification failure"
        case ed25519.Ed25519PublicKey():
            return "x509: Ed25519 verification failure"
    return "crypto/rsa: verification error"


def request_organizations(encoded: str) -> list[str]:
    """The groups that a request's subject claims; none if it makes no sense."""
    from cryptography.x509.oid import NameOID

    try:
        return [str(each.value) for each in _request(encoded).subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    except Unreadable:
        return []


def request_common_name(encoded: str) -> str:
    """Whom a request's subject claims to be; raises Unreadable."""
    from cryptography.x509.oid import NameOID

    found = _request(encoded).subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(found[-1].value) if found else ""


def certificate_complaints(encoded: str) -> list[str]:
    """What is wrong with an issued certificate: PEM blocks of certificates, and text between them."""
    blocks = list(_BLOCK.finditer(base64.b64decode(encoded)))
    if not blocks:
        return ["must contain at least one CERTIFICATE PEM block"]
    from cryptography import x509

    for block in blocks:
        kind, body = block.group(1).decode(), block.group(2)
        if kind != "CERTIFICATE":
            return [f'only CERTIFICATE PEM blocks are allowed, found "{kind}"']
        if _HEADER.search(body):
            return ["no PEM block headers are permitted"]
        try:
            x509.load_pem_x509_certificate(block.group(0) + b"\n")
        except ValueError:
            return ["x509: malformed certificate"]
    return []
