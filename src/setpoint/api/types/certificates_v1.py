"""certificates/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from collections.abc import Mapping

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import meta_v1
from setpoint.api.types.base import Nullable, View


class CertificateSigningRequestSpec(
    View, frozen=True, kw_only=True, rename={"expiration_seconds": "expirationSeconds", "signer_name": "signerName"}
):
    expiration_seconds: int | None = None
    extra: Mapping[str, tuple[str, ...]] = {}
    groups: tuple[str, ...] = ()
    request: str = ""
    signer_name: str = ""
    uid: str = ""
    usages: tuple[str, ...] = ()
    username: str = ""


class CertificateSigningRequestCondition(
    View, frozen=True, kw_only=True, rename={"last_transition_time": "lastTransitionTime", "last_update_time": "lastUpdateTime"}
):
    last_transition_time: Nullable[str] = ""
    last_update_time: Nullable[str] = ""
    message: str = ""
    reason: str = ""
    status: str = ""
    type: str = ""

    def __post_init__(self) -> None:
        if self.last_transition_time is None:
            force_setattr(self, "last_transition_time", "")
        if self.last_update_time is None:
            force_setattr(self, "last_update_time", "")


class CertificateSigningRequestStatus(View, frozen=True, kw_only=True):
    certificate: str = ""
    conditions: tuple[CertificateSigningRequestCondition, ...] = ()


class CertificateSigningRequest(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: CertificateSigningRequestSpec = CertificateSigningRequestSpec()
    status: CertificateSigningRequestStatus = CertificateSigningRequestStatus()


class CertificateSigningRequestList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[CertificateSigningRequest, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


CERTIFICATESIGNINGREQUESTS: Resource[CertificateSigningRequest] = Resource(
    "certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", False, CertificateSigningRequest
)
