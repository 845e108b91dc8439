"""Signs certificates: what `pki.py` needs cryptography for, imported when there is something to sign."""

from __future__ import annotations

import ipaddress
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
_BITS = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)
#: what CertificateSigningRequests call usages → the bit of a certificate's key usage, or its extended purpose
_KEY_USAGES = {name.replace("_", " "): name for name in _BITS} | {"signing": "digital_signature", "cert sign": "key_cert_sign"}
_PURPOSES = {
    "any": ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,
    "server auth": ExtendedKeyUsageOID.SERVER_AUTH,
    "client auth": ExtendedKeyUsageOID.CLIENT_AUTH,
    "code signing": ExtendedKeyUsageOID.CODE_SIGNING,
    "email protection": ExtendedKeyUsageOID.EMAIL_PROTECTION,
    "s/mime": ExtendedKeyUsageOID.EMAIL_PROTECTION,
    "ipsec end system": x509.ObjectIdentifier("1.3.6.1.5.5.7.3.5"),
    "ipsec tunnel": x509.ObjectIdentifier("1.3.6.1.5.5.7.3.6"),
    "ipsec user": x509.ObjectIdentifier("1.3.6.1.5.5.7.3.7"),
    "timestamping": ExtendedKeyUsageOID.TIME_STAMPING,
    "ocsp signing": ExtendedKeyUsageOID.OCSP_SIGNING,
    "microsoft sgc": x509.ObjectIdentifier("1.3.6.1.4.1.311.10.3.3"),
    "netscape sgc": x509.ObjectIdentifier("2.16.840.1.113730.4.1"),
}
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

    def sign_request(self, pem: bytes, usages: Sequence[str], seconds: int) -> bytes:
        """A certificate (PEM) for the key, subject and names of a PEM request.

        Usages are named as in CertificateSigningRequests. Raises ValueError when the request is not sound.
        """
        request = x509.load_pem_x509_csr(pem)
        key = request.public_key()
        if not request.is_signature_valid or not isinstance(key, ec.EllipticCurvePublicKey | rsa.RSAPublicKey):
            raise ValueError("the request's signature or key is not acceptable")
        builder = _dated(request.subject, self._certificate.subject, key, seconds, self._certificate.not_valid_after_utc)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = builder.add_extension(identifier, critical=False)
        if names := _requested_names(request):
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        for extension, critical in _usage_extensions(usages):
            builder = builder.add_extension(extension, critical=critical)
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


def requested(pem: bytes) -> tuple[str, tuple[str, ...], Mapping[str, tuple[str, ...]]]:
    """What a PEM certificate request asks for: name, groups, and other names by their kind (`dns`, `ip`, `email`, `uri`).

    Raises ValueError when it is none.
    """
    request = x509.load_pem_x509_csr(pem)
    asked = x509.SubjectAlternativeName(_requested_names(request))
    groups = tuple(str(attribute.value) for attribute in request.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME))
    common = request.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    names = {
        "dns": tuple(asked.get_values_for_type(x509.DNSName)),
        "ip": tuple(str(address) for address in asked.get_values_for_type(x509.IPAddress)),
        "email": tuple(asked.get_values_for_type(x509.RFC822Name)),
        "uri": tuple(asked.get_values_for_type(x509.UniformResourceIdentifier)),
    }
    return str(common[0].value) if common else "", groups, names


def lifetime(pem: bytes) -> tuple[float, float]:
    """When a PEM certificate begins and ends (seconds since the epoch); raises ValueError when it is none."""
    certificate = x509.load_pem_x509_certificate(pem)
    return certificate.not_valid_before_utc.timestamp(), certificate.not_valid_after_utc.timestamp()


def names_of(pem: bytes) -> frozenset[str]:
    """The names and addresses that a PEM certificate is good for; raises ValueError when it is none."""
    certificate = x509.load_pem_x509_certificate(pem)
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return frozenset()
    addresses = names.get_values_for_type(x509.IPAddress)
    return frozenset((*names.get_values_for_type(x509.DNSName), *map(str, addresses)))


def _requested_names(request: x509.CertificateSigningRequest) -> list[x509.GeneralName]:
    try:
        return list(request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    except x509.ExtensionNotFound:
        return []


def _usage_extensions(usages: Sequence[str]) -> Iterator[tuple[x509.ExtensionType, bool]]:
    """Usages as CertificateSigningRequests name them, as a certificate's extensions, each with whether it is critical."""
    bits = {_KEY_USAGES[usage] for usage in usages if usage in _KEY_USAGES}
    if bits:
        yield x509.KeyUsage(**{name: name in bits for name in _BITS}), True
    purposes = list(dict.fromkeys(_PURPOSES[usage] for usage in usages if usage in _PURPOSES))
    if purposes:
        yield x509.ExtendedKeyUsage(purposes), False


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
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey | rsa.RSAPublicKey,
    seconds: int,
    latest: datetime | None = None,
) -> x509.CertificateBuilder:
    """A certificate from now on for `seconds`, at most until `latest`: the end of the CA's own."""
    now = datetime.now(UTC)
    end = now + timedelta(seconds=seconds)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(end if latest is None else min(end, latest))
    )


def _name(subject: Subject) -> x509.Name:
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in subject.groups]
    if len(subject.name) <= 64:
        return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, subject.name)])
    with warnings.catch_warnings():  # X.509 allows no more, nobody asks; controllers have longer
        warnings.simplefilter("ignore")
        return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, subject.name, _validate=False)])


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
