"""The cluster's certificates: one CA made at first start, and what it signs.

All keys are ECDSA P-256 (made in well under a millisecond) and lie in files that only the server's user may read. The service
account key is apart, so that rotating certificates leaves tokens valid. Layout of `<data dir>/pki`:
`ca.crt ca.key`, `<name>.crt <name>.key` for each certificate, `sa.key sa.pub`.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from msgspec import Struct

YEAR = timedelta(days=365)
_SKEW = timedelta(minutes=5)
_RENEW_BEFORE = timedelta(days=30)

SERVER = ExtendedKeyUsageOID.SERVER_AUTH
CLIENT = ExtendedKeyUsageOID.CLIENT_AUTH


class KeyPair(Struct, frozen=True):
    """Paths of a certificate and its private key."""

    certificate: Path
    key: Path


class Subject(Struct, frozen=True):
    """Who a certificate speaks for: `name` is the user (CN), `groups` its groups (O), `addresses` the hosts it may serve as."""

    name: str
    groups: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    usages: tuple[x509.ObjectIdentifier, ...] = (CLIENT,)


class Authority:
    """The cluster's CA in a directory; made there when absent."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.certificate_file = directory / "ca.crt"
        key_file = directory / "ca.key"
        if not key_file.exists() or not self.certificate_file.exists():
            self._create(key_file)
        key = load_pem_private_key(key_file.read_bytes(), None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise TypeError(f"{key_file}: not an EC key")
        self._key = key
        self._certificate = x509.load_pem_x509_certificate(self.certificate_file.read_bytes())

    @property
    def pem(self) -> str:
        """The CA's certificate, as kubeconfigs and kube-root-ca.crt hold it."""
        return self.certificate_file.read_text()

    def _create(self, key_file: Path) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "setpoint-ca")])
        certificate = (
            _builder(name, name, key.public_key(), 10 * YEAR)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(_key_usage(sign_certificates=True), critical=True)
            .sign(key, hashes.SHA256())
        )
        write_private(key_file, _pem(key))
        write_private(self.certificate_file, certificate.public_bytes(Encoding.PEM), mode=0o644)

    def issue(self, file_name: str, subject: Subject) -> KeyPair:
        """The certificate kept under `file_name`: the present one if it still fits and is not about to expire, else a new one."""
        pair = KeyPair(self.directory / f"{file_name}.crt", self.directory / f"{file_name}.key")
        if not self._fits(pair, subject):
            certificate, key = self.sign(subject)
            write_private(pair.key, key)
            write_private(pair.certificate, certificate, mode=0o644)
        return pair

    def sign(self, subject: Subject, lifetime: timedelta = YEAR) -> tuple[bytes, bytes]:
        """A new certificate and key (PEM both)."""
        key = ec.generate_private_key(ec.SECP256R1())
        issuer_key = self._certificate.public_key()
        if not isinstance(issuer_key, ec.EllipticCurvePublicKey):
            raise TypeError(f"{self.certificate_file}: not an EC key")
        builder = (
            _builder(_name(subject), self._certificate.subject, key.public_key(), lifetime)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(sign_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(subject.usages), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key), critical=False)
        )
        if subject.addresses:
            builder = builder.add_extension(x509.SubjectAlternativeName(_alternatives(subject.addresses)), critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        return certificate.public_bytes(Encoding.PEM), _pem(key)

    def sign_request(self, pem: bytes, *, serving: bool, seconds: int) -> bytes:
        """A certificate (PEM) for the key and subject of a PEM request; raises ValueError when the request is not sound."""
        request = x509.load_pem_x509_csr(pem)
        key = request.public_key()
        if not request.is_signature_valid or not isinstance(key, ec.EllipticCurvePublicKey | rsa.RSAPublicKey):
            raise ValueError("the request's signature or key is not acceptable")
        issuer_key = self._certificate.public_key()
        if not isinstance(issuer_key, ec.EllipticCurvePublicKey):
            raise TypeError(f"{self.certificate_file}: not an EC key")
        builder = (
            _builder(request.subject, self._certificate.subject, key, timedelta(seconds=seconds))
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(sign_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([SERVER if serving else CLIENT]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key), critical=False)
        )
        if serving:
            names = request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM)

    def _fits(self, pair: KeyPair, subject: Subject) -> bool:
        if not (pair.certificate.exists() and pair.key.exists()):
            return False
        held = x509.load_pem_x509_certificate(pair.certificate.read_bytes())
        if held.issuer != self._certificate.subject or held.not_valid_after_utc < datetime.now(UTC) + _RENEW_BEFORE:
            return False
        try:
            held.verify_directly_issued_by(self._certificate)
            names = held.extensions.get_extension_for_class(x509.SubjectAlternativeName).value if subject.addresses else ()
        except (ValueError, TypeError, InvalidSignature, x509.ExtensionNotFound):
            return False
        return held.subject == _name(subject) and set(names) == set(_alternatives(subject.addresses))


def service_account_key(directory: Path) -> KeyPair:
    """The key pair that signs service account tokens (`certificate` holds the public key); made when absent."""
    pair = KeyPair(directory / "sa.pub", directory / "sa.key")
    if not pair.key.exists():
        key = ec.generate_private_key(ec.SECP256R1())
        write_private(pair.certificate, key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
        write_private(pair.key, _pem(key))
    return pair


def requested_subject(pem: bytes) -> Subject:
    """The subject that a PEM certificate request asks for; raises ValueError when it is none."""
    names = x509.load_pem_x509_csr(pem).subject
    groups = tuple(str(attribute.value) for attribute in names.get_attributes_for_oid(NameOID.ORGANIZATION_NAME))
    common = names.get_attributes_for_oid(NameOID.COMMON_NAME)
    return Subject(str(common[0].value) if common else "", groups)


def new_request(subject: Subject) -> tuple[bytes, bytes]:
    """A certificate request and its key (PEM both), for a signer elsewhere."""
    key = ec.generate_private_key(ec.SECP256R1())
    builder = x509.CertificateSigningRequestBuilder().subject_name(_name(subject))
    if subject.addresses:
        builder = builder.add_extension(x509.SubjectAlternativeName(_alternatives(subject.addresses)), critical=False)
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM), _pem(key)


def write_private(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Write a file as a whole or not at all, readable by nobody else from its first moment (mode 0600)."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    draft.replace(path)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey | rsa.RSAPublicKey, lifetime: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + lifetime)
    )


def _name(subject: Subject) -> x509.Name:
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in subject.groups]
    return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, subject.name)])


def _alternatives(addresses: Iterable[str]) -> list[x509.GeneralName]:
    names: list[x509.GeneralName] = []
    for address in addresses:
        try:
            names.append(x509.IPAddress(ipaddress.ip_address(address)))
        except ValueError:
            names.append(x509.DNSName(address))
    return names


def _key_usage(*, sign_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=sign_certificates,
        crl_sign=sign_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
