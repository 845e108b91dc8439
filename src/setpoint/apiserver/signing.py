"""Signs certificates: what `pki.py` needs cryptography for, imported when there is something to sign."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from cryptography import x509
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

from setpoint.apiserver.pki import CLIENT, SERVER, Subject

_SKEW = timedelta(minutes=5)
_USAGES = {SERVER: ExtendedKeyUsageOID.SERVER_AUTH, CLIENT: ExtendedKeyUsageOID.CLIENT_AUTH}


class Signer:
    """A CA's key and certificate (PEM both)."""

    def __init__(self, key: bytes, certificate: bytes) -> None:
        self._key = _ec_key(key)
        self._certificate = x509.load_pem_x509_certificate(certificate)

    def sign(self, subject: Subject, lifetime: int) -> tuple[bytes, bytes]:
        """A new certificate and key (PEM both), for `lifetime` seconds."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(_name(subject), key.public_key(), lifetime, subject.usages)
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
        builder = self._builder(request.subject, key, seconds, (SERVER if serving else CLIENT,))
        if serving:
            names = request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM)

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey | rsa.RSAPublicKey, seconds: int, usages: Iterable[str]
    ) -> x509.CertificateBuilder:
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        return (
            _dated(subject, self._certificate.subject, key, seconds)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(sign_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([_USAGES[usage] for usage in usages]), critical=False)
            .add_extension(identifier, critical=False)
        )


def new_authority(name: str, lifetime: int) -> tuple[bytes, bytes]:
    """A self-signed CA certificate and its key (PEM both)."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = (
        _dated(subject, subject, key.public_key(), lifetime)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(_key_usage(sign_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(Encoding.PEM), _pem(key)


def new_key_pair() -> tuple[bytes, bytes]:
    """A public and a private key for tokens (PEM both); see `authentication.signing_key`."""
    key = rsa.generate_private_key(65537, 2048)
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), _pem(key)


def requested_subject(pem: bytes) -> Subject:
    """What a PEM certificate request asks for (`addresses` are its DNS names only); raises ValueError when it is none."""
    request = x509.load_pem_x509_csr(pem)
    names = request.subject
    try:
        asked = request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        asked = x509.SubjectAlternativeName([])
    groups = tuple(str(attribute.value) for attribute in names.get_attributes_for_oid(NameOID.ORGANIZATION_NAME))
    common = names.get_attributes_for_oid(NameOID.COMMON_NAME)
    return Subject(str(common[0].value) if common else "", groups, tuple(asked.get_values_for_type(x509.DNSName)))


def new_request(subject: Subject) -> tuple[bytes, bytes]:
    """A certificate request and its key (PEM both), for a signer elsewhere."""
    key = ec.generate_private_key(ec.SECP256R1())
    builder = x509.CertificateSigningRequestBuilder().subject_name(_name(subject))
    if subject.addresses:
        builder = builder.add_extension(x509.SubjectAlternativeName(_alternatives(subject.addresses)), critical=False)
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM), _pem(key)


def _ec_key(pem: bytes) -> ec.EllipticCurvePrivateKey:
    key = load_pem_private_key(pem, None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError("the CA's key is no EC key")
    return key


def _dated(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey | rsa.RSAPublicKey, seconds: int
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + timedelta(seconds=seconds))
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


def _pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
