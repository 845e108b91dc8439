"""authentication/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from collections.abc import Mapping

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import meta_v1
from setpoint.api.types.base import Nullable, View


class BoundObjectReference(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""


class UserInfo(View, frozen=True, kw_only=True):
    extra: Mapping[str, tuple[str, ...]] = {}
    groups: tuple[str, ...] = ()
    uid: str = ""
    username: str = ""


class SelfSubjectReviewStatus(View, frozen=True, kw_only=True, rename={"user_info": "userInfo"}):
    user_info: UserInfo = UserInfo()


class SelfSubjectReview(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    status: SelfSubjectReviewStatus = SelfSubjectReviewStatus()


class TokenRequestSpec(
    View, frozen=True, kw_only=True, rename={"bound_object_ref": "boundObjectRef", "expiration_seconds": "expirationSeconds"}
):
    audiences: Nullable[tuple[str, ...]] = ()
    bound_object_ref: BoundObjectReference | None = None
    expiration_seconds: int | None = None

    def __post_init__(self) -> None:
        if self.audiences is None:
            force_setattr(self, "audiences", ())


class TokenRequestStatus(View, frozen=True, kw_only=True, rename={"expiration_timestamp": "expirationTimestamp"}):
    expiration_timestamp: Nullable[str] = ""
    token: str = ""

    def __post_init__(self) -> None:
        if self.expiration_timestamp is None:
            force_setattr(self, "expiration_timestamp", "")


class TokenRequest(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: TokenRequestSpec = TokenRequestSpec()
    status: TokenRequestStatus = TokenRequestStatus()


class TokenReviewSpec(View, frozen=True, kw_only=True):
    audiences: tuple[str, ...] = ()
    token: str = ""


class TokenReviewStatus(View, frozen=True, kw_only=True):
    audiences: tuple[str, ...] = ()
    authenticated: bool = False
    error: str = ""
    user: UserInfo = UserInfo()


class TokenReview(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: TokenReviewSpec = TokenReviewSpec()
    status: TokenReviewStatus = TokenReviewStatus()


SELFSUBJECTREVIEWS: Resource[SelfSubjectReview] = Resource(
    "authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", False, SelfSubjectReview
)
TOKENREVIEWS: Resource[TokenReview] = Resource("authentication.k8s.io", "v1", "tokenreviews", "TokenReview", False, TokenReview)
