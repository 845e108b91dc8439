"""What requests ask for, and which signer signs what.

Source: Kubernetes `pkg/apis/certificates/helpers.go`, `controller/certificates/signer/signer.go`.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.resource import Resource
from setpoint.api.types.certificates_v1 import CertificateSigningRequest

API_SIGNER = "kubernetes.io/kube-apiserver-client"
CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
SERVING_SIGNER = "kubernetes.io/kubelet-serving"
LEGACY_SIGNER = "kubernetes.io/legacy-unknown"
NODES = "system:nodes"
NODE_PREFIX = "system:node:"
#: as JSON: what is written back is the whole object
REQUESTS: Resource[Any] = Resource(
    "certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", namespaced=False, type=dict
)
_SIGNATURE, _ENCIPHERMENT = "digital signature", "key encipherment"


class Requested(Struct, frozen=True):
    """What a PEM request asks for: the subject, and the names that a certificate would be good for."""

    name: str
    groups: tuple[str, ...]
    dns_names: tuple[str, ...] = ()
    ip_addresses: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()
    uris: tuple[str, ...] = ()

    @property
    def node(self) -> str:
        return self.name.removeprefix(NODE_PREFIX)


class Signer(Struct, frozen=True):
    """The cluster's CA, given by the composition root.

    `read` reads a PEM request and `sign` signs one for usages and seconds; both raise ValueError for what is not sound.
    `expires` says when a PEM certificate ends (seconds since the epoch). `servers` are the names and addresses that API servers
    are known by, as far as they are known here.
    """

    read: Callable[[bytes], Requested]
    sign: Callable[[bytes, Sequence[str], int], bytes]
    expires: Callable[[bytes], float]
    servers: Callable[[], frozenset[str]] = frozenset


def has(request: CertificateSigningRequest, kind: str) -> bool:
    """Whether a request has a condition."""
    return any(condition.type == kind for condition in request.status.conditions)


def pem_of(request: CertificateSigningRequest) -> bytes:
    """The PEM text of a request; raises ValueError."""
    return base64.b64decode(request.spec.request)


def complaint(signer: str, asked: Requested, usages: Sequence[str]) -> str:
    """Why a signer does not sign a request; empty when it does."""
    if signer == API_SIGNER:
        return _client_usages(usages)
    if signer == CLIENT_SIGNER:
        return _client_complaint(asked, usages)
    return _serving_complaint(asked, usages) if signer == SERVING_SIGNER else ""


def _client_usages(usages: Sequence[str]) -> str:
    for usage in usages:
        if usage not in (_SIGNATURE, _ENCIPHERMENT, "client auth"):
            return f"invalid usage for client certificate: {usage}"
    return "" if "client auth" in usages else "missing required usage for client certificate: client auth"


def _client_complaint(asked: Requested, usages: Sequence[str]) -> str:
    if asked.groups != (NODES,):
        return "subject organization is not system:nodes"
    held = (("DNS", asked.dns_names), ("Email", asked.emails), ("IP", asked.ip_addresses), ("URI", asked.uris))
    for kind, names in held:
        if names:
            return f"{kind} subjectAltNames are not allowed"
    if not asked.name.startswith(NODE_PREFIX):
        return "subject common name does not begin with system:node:"
    return _usages_complaint(usages, "client auth")


def _serving_complaint(asked: Requested, usages: Sequence[str]) -> str:
    if asked.groups != (NODES,):
        return "subject organization is not system:nodes"
    if not asked.dns_names and not asked.ip_addresses:
        return "DNS or IP subjectAltName is required"
    for kind, names in (("Email", asked.emails), ("URI", asked.uris)):
        if names:
            return f"{kind} subjectAltNames are not allowed"
    if wrong := _usages_complaint(usages, "server auth"):
        return wrong
    return "" if asked.name.startswith(NODE_PREFIX) else "subject common name does not begin with system:node:"


def _usages_complaint(usages: Sequence[str], needed: str) -> str:
    """Exactly these usages; key encipherment is for RSA keys and may be left out."""
    if {*usages} - {_ENCIPHERMENT} == {_SIGNATURE, needed}:
        return ""
    return f"usages did not match [{' '.join(sorted((_SIGNATURE, _ENCIPHERMENT, needed)))}]"
