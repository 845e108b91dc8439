"""Whether a certificate and a private key belong together, in the words of Go's `tls.X509KeyPair`."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from setpoint.registry.certificates import pem

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

_KEY = "PRIVATE KEY"


def complaint(certificate: bytes, key: bytes) -> str:
    """What is wrong with a pair of PEM texts; empty if the key is the certificate's."""
    skipped: list[str] = []
    certificates = [body for kind, body in _blocks(certificate) if _is_certificate(kind, skipped)]
    if not certificates:
        return _no_certificate(skipped)
    skipped.clear()
    found = next((body for kind, body in _blocks(key) if _is_key(kind, skipped)), None)
    return _no_key(skipped) if found is None else _mismatch(certificates[0], found)


def _blocks(text: bytes) -> Iterator[tuple[str, bytes]]:
    """Type and content of each PEM block; one that is no base64 counts as none."""
    for kind, body in pem.blocks(text):
        try:
            yield kind, base64.b64decode(b"".join(body.split()), validate=True)
        except ValueError:
            continue


def _is_certificate(kind: str, skipped: list[str]) -> bool:
    if kind == "CERTIFICATE":
        return True
    skipped.append(kind)
    return False


def _is_key(kind: str, skipped: list[str]) -> bool:
    if kind == _KEY or kind.endswith(f" {_KEY}"):
        return True
    skipped.append(kind)
    return False


def _no_certificate(skipped: Sequence[str]) -> str:
    if not skipped:
        return "tls: failed to find any PEM data in certificate input"
    if len(skipped) == 1 and skipped[0].endswith(_KEY):
        return (
            "tls: failed to find certificate PEM data in certificate input, but did find a private key; "
            "PEM inputs may have been switched"
        )
    return (
        'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: '
        f"[{' '.join(skipped)}]"
    )


def _no_key(skipped: Sequence[str]) -> str:
    if not skipped:
        return "tls: failed to find any PEM data in key input"
    if list(skipped) == ["CERTIFICATE"]:
        return "tls: found a certificate rather than a key in the PEM for the private key"
    return (
        'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following '
        f"types: [{' '.join(skipped)}]"
    )


def _mismatch(certificate: bytes, key: bytes) -> str:
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    try:
        public = x509.load_der_x509_certificate(certificate).public_key()
    except UnsupportedAlgorithm:
        return "tls: unknown public key algorithm"
    except ValueError:
        return "x509: malformed certificate"
    private = _private_key(key)
    if private is None:
        return "tls: failed to parse private key"
    kinds = (
        (rsa.RSAPublicKey, rsa.RSAPrivateKey),
        (ec.EllipticCurvePublicKey, ec.EllipticCurvePrivateKey),
        (ed25519.Ed25519PublicKey, ed25519.Ed25519PrivateKey),
    )
    wanted = next((of_key for of_certificate, of_key in kinds if isinstance(public, of_certificate)), None)
    if wanted is None:
        return "tls: unknown public key algorithm"
    if not isinstance(private, wanted):
        return "tls: private key type does not match public key type"
    return "" if private.public_key() == public else "tls: private key does not match public key"


def _private_key(key: bytes) -> PrivateKeyTypes | None:
    """A key in any of the forms that OpenSSL writes: PKCS#1, PKCS#8, SEC 1."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    try:
        return load_der_private_key(key, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):  # TypeError: encrypted
        return None
