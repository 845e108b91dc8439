"""Certificate requests and certificates, as far as the API looks into them.

Source: `pkg/apis/certificates/helpers.go`, `pkg/apis/certificates/validation`.
"""

from __future__ import annotations

import base64
import re

_BLOCK = re.compile(rb"-----BEGIN ([^\n-]+)-----\r?\n(.*?)-----END \1-----", re.DOTALL)
_HEADER = re.compile(rb"^[^\n:]+:[^\n]*$", re.MULTILINE)


def request_complaints(encoded: str) -> list[str]:
    """What is wrong with a PEM-encoded PKCS#10 request (given as base64)."""
    match = _BLOCK.search(base64.b64decode(encoded))
    if match is None or match.group(1) != b"CERTIFICATE REQUEST":
        return ["PEM block type must be CERTIFICATE REQUEST"]
    from cryptography import x509

    try:
        request = x509.load_pem_x509_csr(match.group(0) + b"\n")
    except ValueError as error:
        return [str(error)]
    return [] if request.is_signature_valid else ["signature is invalid"]


def request_organizations(encoded: str) -> list[str]:
    """The groups that a request's subject claims; none if it makes no sense."""
    match = _BLOCK.search(base64.b64decode(encoded))
    if match is None:
        return []
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    try:
        request = x509.load_pem_x509_csr(match.group(0) + b"\n")
    except ValueError:
        return []
    return [str(attribute.value) for attribute in request.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]


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
