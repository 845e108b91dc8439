"""Client certificates: the common name is the user, the organisations its groups.

TLS has already checked the chain, the time and that the certificate is for clients (OpenSSL's purpose "sslclient"); one that
fails ends the handshake. Which authority signed it decides what it may be used for: the cluster's CA makes users, the front
proxy's CA makes those who may speak for others (`front_proxy.py`). Source: Kubernetes `authentication/request/x509`.
"""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.user import ANONYMOUS, UserInfo

_UID = "1.3.6.1.4.1.57683.2"  # the subject's attribute that holds the user's uid


class Peer(Struct, frozen=True):
    """Who is at the other end of a connection. `user` is None for a certificate that makes nobody a user."""

    user: UserInfo | None
    common_name: str
    not_after: float
    proxy: bool = False


class Authorities:
    """Tells the cluster's CA from the front proxy's; both are files with PEM certificates."""

    def __init__(self, clients: Path, proxies: Path | None = None) -> None:
        self._clients_file, self._proxies_file = clients, proxies

    @cached_property
    def _clients(self) -> tuple[bytes, ...]:
        return _certificates(self._clients_file)

    @cached_property
    def _proxies(self) -> tuple[bytes, ...]:
        return _certificates(self._proxies_file) if self._proxies_file is not None else ()

    def peer(self, peercert: Mapping[str, Any] | None, ssl_object: Any) -> Peer | None:
        """Who a TLS connection's certificate speaks for (`getpeercert()` and the SSL object); None without one."""
        if not peercert or ssl_object is None:
            return None
        chain = _verified_chain(ssl_object)
        der = ssl_object.getpeercert(binary_form=True)
        users = self._signed_by(self._clients, chain, der)
        proxies = bool(self._proxies) and self._signed_by(self._proxies, chain, der)
        return peer_of(peercert, der, users=users, proxy=proxies)

    def _signed_by(self, authorities: Sequence[bytes], chain: Sequence[bytes], der: bytes) -> bool:
        if chain:
            return not {*authorities}.isdisjoint(chain)
        return not self._proxies or _issued(authorities, der)


def peer_of(peercert: Mapping[str, Any], der: bytes, *, users: bool = True, proxy: bool = False) -> Peer:
    """What a certificate says of its bearer; `users`: its authority makes users."""
    names = [pair for part in peercert.get("subject", ()) for pair in part]
    name = next((value for key, value in names if key == "commonName"), "")
    until = ssl.cert_time_to_seconds(peercert["notAfter"]) if "notAfter" in peercert else float("inf")
    if not users or not name:
        return Peer(None, name, until, proxy)
    groups = [value for key, value in names if key == "organizationName"]
    if name != ANONYMOUS.name and not {"system:authenticated", "system:unauthenticated"}.intersection(groups):
        groups.append("system:authenticated")
    uid = next((value for key, value in names if key == _UID), "")
    extra = {"authentication.kubernetes.io/credential-id": (f"X509SHA256={hashlib.sha256(der).hexdigest()}",)}
    return Peer(UserInfo(name, uid, tuple(groups), extra), name, until, proxy)


def _certificates(file: Path) -> tuple[bytes, ...]:
    """The certificates of a PEM file, in DER."""
    end = "-----END CERTIFICATE-----"
    return tuple(ssl.PEM_cert_to_DER_cert(part[part.index("-----BEGIN") :] + end) for part in file.read_text().split(end)[:-1])


def _verified_chain(ssl_object: Any) -> list[bytes]:
    """The chain that TLS found, in DER; empty where this Python does not tell, or the session was resumed."""
    if hasattr(ssl_object, "get_verified_chain"):  # Python 3.13
        return list(ssl_object.get_verified_chain() or ())
    inner = getattr(ssl_object, "_sslobj", None)
    found = inner.get_verified_chain() if inner is not None and hasattr(inner, "get_verified_chain") else None
    return [ssl.PEM_cert_to_DER_cert(each.public_bytes()) for each in found or ()]


def _issued(authorities: Sequence[bytes], der: bytes) -> bool:
    """Whether one of the authorities signed a certificate, asked of the certificate itself."""
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature

    certificate = x509.load_der_x509_certificate(der)
    for authority in authorities:
        try:
            certificate.verify_directly_issued_by(x509.load_der_x509_certificate(authority))
        except (ValueError, TypeError, InvalidSignature):
            continue
        return True
    return False
