"""Who asks. Authenticators are tried in order; the first that recognises a credential decides.

The order is Kubernetes': a front proxy's headers, the client certificate, the bearer token. A credential that nobody accepts is
401; no credential at all is the anonymous user, if it is let in. No credential is ever logged or told. Source: Kubernetes
`pkg/kubeapiserver/authenticator`, `authentication/request`.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from setpoint.api.machinery.status import unauthorized
from setpoint.api.machinery.user import ANONYMOUS, UserInfo
from setpoint.apiserver.authentication.certificates import Peer
from setpoint.apiserver.authentication.front_proxy import FrontProxy
from setpoint.apiserver.authentication.rejected import Rejected

AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
MAX_TOKEN = 16 * 1024  # characters; no token that anybody issues is longer
EXTRA_SPACE = "the provided Authorization header contains extra space before the bearer token, and is ignored"
_INVALID = "invalid bearer token"
_WEBSOCKET = "base64url.bearer.authorization.k8s.io."


class TokenAuthenticator(Protocol):
    """Knows some bearer tokens."""

    async def user_of(self, token: str) -> UserInfo | None:
        """The token's user; None for a token of others. Raises Rejected for one of its own that is void."""


@runtime_checkable
class AudienceAuthenticator(TokenAuthenticator, Protocol):
    """Knows tokens that are meant for somebody."""

    async def user_for(self, token: str, audiences: Sequence[str]) -> tuple[UserInfo, list[str]] | None:
        """The token's user and those of the audiences that it is meant for."""


class Anonymous(Struct, frozen=True):
    """Whether requests without a credential are let in; `paths`: to these only (empty: to all)."""

    enabled: bool = True
    paths: frozenset[str] = frozenset()

    def admits(self, path: str) -> bool:
        return self.enabled and (not self.paths or path in self.paths)


class Authentication:
    """All ways to prove an identity that this server accepts."""

    def __init__(
        self,
        tokens: Sequence[TokenAuthenticator],
        *,
        anonymous: Anonymous = Anonymous(),  # noqa: B008  frozen
        front_proxy: FrontProxy | None = None,
        now: Callable[[], float] | None = None,
    ) -> None:
        self._tokens = tokens
        self._anonymous = anonymous
        self._front_proxy = front_proxy
        self._now = now or (lambda: 0.0)

    async def authenticate(self, path: str, headers: Mapping[str, str], peer: Peer | None) -> UserInfo:
        """The user behind a request's headers and the TLS peer's certificate; raises StatusError 401."""
        if peer is not None and self._now() < peer.not_after:
            if peer.proxy and self._front_proxy is not None:
                named = self._front_proxy.user_of(headers, peer)
                if named is not None:
                    return _authenticated(named)
            if peer.user is not None:
                return peer.user
        if (token := bearer_token(headers.get("authorization", "")) or websocket_token(headers)) and (
            user := await self._token_user(token)
        ) is not None:
            return user
        if token or peer is not None or not self._anonymous.admits(path):
            raise unauthorized()
        return ANONYMOUS

    async def _token_user(self, token: str) -> UserInfo | None:
        if len(token) > MAX_TOKEN or not token.isascii():
            return None
        for authenticator in self._tokens:
            try:
                user = await authenticator.user_of(token)
            except Rejected:
                continue
            if user is not None:
                return _authenticated(user)
        return None

    async def review(self, token: str, audiences: Sequence[str], own: str) -> tuple[UserInfo, list[str]]:
        """Whose a token is and for which of the audiences; tokens that do not say are for `own`. Raises Rejected.

        An empty one is no credential, and that is nobody's, for whomever it is asked. Rejected says nothing of it otherwise.
        """
        if not token:
            if self._anonymous.enabled:
                return ANONYMOUS, list(audiences)
            raise Rejected
        reasons = [_INVALID]
        for authenticator in self._tokens if token.isascii() and len(token) <= MAX_TOKEN else ():
            try:
                if isinstance(authenticator, AudienceAuthenticator):
                    found = await authenticator.user_for(token, audiences)
                else:
                    user = await authenticator.user_of(token) if own in audiences else None
                    found = (user, [own]) if user is not None else None
            except Rejected as error:
                reasons.append(str(error))
                continue
            if found is not None:
                return _authenticated(found[0]), found[1]
        raise Rejected(reasons[0] if len(reasons) == 1 else f"[{', '.join(reasons)}]")


def bearer_token(authorization: str) -> str:
    """The token of `Bearer <token>`, with any case of the scheme; empty when there is none.

    Exactly one space stands before the token: with more there is none, and `complaint` says so.
    """
    parts = authorization.strip().split(" ")
    return parts[1] if len(parts) > 1 and parts[0].lower() == "bearer" else ""


def complaint(authorization: str) -> str:
    """What is to be warned of in an Authorization header that proved nobody; empty for nothing."""
    parts = authorization.strip().split(" ", 2)
    return EXTRA_SPACE if len(parts) == 3 and parts[0].lower() == "bearer" and not parts[1] else ""


def websocket_token(headers: Mapping[str, str]) -> str:
    """The token that browsers, which cannot set Authorization, send as a WebSocket protocol beside the one they want."""
    offered = headers.get("sec-websocket-protocol")
    if not offered or "upgrade" not in headers:
        return ""
    words = [word.strip() for word in offered.split(",")]
    tokens = [word.removeprefix(_WEBSOCKET) for word in words if word.startswith(_WEBSOCKET)]
    if len(tokens) != 1 or len(words) < 2:
        return ""
    try:
        return urlsafe_b64decode(tokens[0] + "=" * (-len(tokens[0]) % 4)).decode("ascii")
    except (binascii.Error, ValueError):
        return ""


def other_protocols(offered: str) -> str:
    """The WebSocket protocols without the token among them, which is nobody's business from then on."""
    words = [word.strip() for word in offered.split(",")]
    return ", ".join(word for word in words if not word.startswith(_WEBSOCKET))


def _authenticated(user: UserInfo) -> UserInfo:
    """Whoever proved an identity is in `system:authenticated`, unless they are in one of the two groups already, or nobody.

    Source: apiserver `authentication/group/authenticated_group_adder.go`.
    """
    if AUTHENTICATED in user.groups or UNAUTHENTICATED in user.groups or user.name == ANONYMOUS.name:
        return user
    return replace(user, groups=(*user.groups, AUTHENTICATED))
