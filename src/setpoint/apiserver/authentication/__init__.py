"""Who asks. Authenticators are tried in order; the first that recognises a credential decides.

A credential that no authenticator accepts is 401; no credential at all is the anonymous user, whom authorisation lets see
health and version only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from msgspec.structs import replace

from setpoint.api.machinery.status import unauthorized
from setpoint.api.machinery.user import ANONYMOUS, UserInfo

AUTHENTICATED = "system:authenticated"
MAX_TOKEN = 16 * 1024  # characters; no token that anybody issues is longer


class TokenAuthenticator(Protocol):
    """Knows some bearer tokens."""

    async def user_of(self, token: str) -> UserInfo | None:
        """The token's user; None when this authenticator does not accept it."""


@runtime_checkable
class AudienceAuthenticator(TokenAuthenticator, Protocol):
    """Knows tokens that are meant for somebody."""

    async def user_for(self, token: str, audiences: Sequence[str]) -> tuple[UserInfo, list[str]] | None:
        """The token's user and those of the audiences that it is meant for."""


class Authentication:
    """All ways to prove an identity that this server accepts."""

    def __init__(self, tokens: Sequence[TokenAuthenticator]) -> None:
        self._tokens = tokens

    async def authenticate(self, authorization: str, certificate_user: UserInfo | None) -> UserInfo:
        """The user behind an Authorization header and the TLS peer's certificate; raises StatusError 401.

        A client certificate wins over a token, as in kube-apiserver's order of authenticators.
        """
        if certificate_user is not None:
            return _authenticated(certificate_user)
        token = bearer_token(authorization)
        if not token:
            return ANONYMOUS
        if len(token) > MAX_TOKEN or not token.isascii():
            raise unauthorized()
        for authenticator in self._tokens:
            if (user := await authenticator.user_of(token)) is not None:
                return _authenticated(user)
        raise unauthorized()

    async def review(self, token: str, audiences: Sequence[str], own: str) -> tuple[UserInfo, list[str]] | None:
        """Whose a token is and for whom, if it is meant for one of the audiences; tokens that do not say are for `own`."""
        for authenticator in self._tokens:
            if isinstance(authenticator, AudienceAuthenticator):
                found = await authenticator.user_for(token, audiences)
            else:
                user = await authenticator.user_of(token) if own in audiences else None
                found = (user, [own]) if user is not None else None
            if found is not None:
                return _authenticated(found[0]), found[1]
        return None


def bearer_token(authorization: str) -> str:
    """The token of `Bearer <token>`, with any case of the scheme; empty when there is none."""
    scheme, _, token = authorization.strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _authenticated(user: UserInfo) -> UserInfo:
    if AUTHENTICATED in user.groups:
        return user
    return replace(user, groups=(*user.groups, AUTHENTICATED))
