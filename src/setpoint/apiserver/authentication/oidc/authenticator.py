"""Accepts one issuer's tokens: signature, audience, time, and then the user that its claims make.

A token that was accepted is remembered for some seconds, as in Kubernetes, since each is sent with every request.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authentication.oidc.claims import user_of
from setpoint.apiserver.authentication.oidc.keys import IssuerKeys
from setpoint.apiserver.authentication.rejected import Rejected
from setpoint.kit.clock import Clock

if TYPE_CHECKING:
    from setpoint.apiserver.authentication.configuration import Issuer

_REMEMBERED, _SECONDS = 1024, 10.0
#: what is in the claims is judged here, in Kubernetes' words
_SIGNATURE_ONLY: Any = {f"verify_{claim}": False for claim in ("exp", "nbf", "iat", "aud", "sub", "jti", "iss")}
_NOT_BEFORE_LEEWAY = 300.0  # seconds, as go-oidc allows


class IssuerTokens:
    """Tokens of one issuer."""

    def __init__(self, issuer: Issuer, clock: Clock) -> None:
        self._issuer = issuer
        self._clock = clock
        self._keys = IssuerKeys(issuer.url, clock, discovery_url=issuer.discovery_url, ca=issuer.ca)
        self._accepted: OrderedDict[str, tuple[UserInfo, float]] = OrderedDict()

    async def user_of(self, token: str) -> UserInfo | None:
        """The token's user; None for a token of others, Rejected for one of this issuer that is not acceptable."""
        held = self._accepted.get(token)
        if held is not None and self._clock.now() < held[1]:
            return held[0]
        if token.count(".") != 2:
            return None
        import jwt

        try:
            found = jwt.decode_complete(token, options={"verify_signature": False})
        except jwt.InvalidTokenError:
            return None
        if found["payload"].get("iss") != self._issuer.url:
            return None
        claims = await self._verified(token, found["header"])
        user = user_of(claims, self._issuer)
        self._remember(token, user, min(float(claims["exp"]), self._clock.now() + _SECONDS))
        return user

    async def _verified(self, token: str, header: dict[str, Any]) -> dict[str, Any]:
        import jwt

        if header.get("alg") not in self._issuer.algorithms:
            raise Rejected("oidc: verify token: oidc: malformed jwt: unexpected signature algorithm")
        key = await self._keys.key(str(header.get("kid") or ""))
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key.key,
                algorithms=list(self._issuer.algorithms),
                options=_SIGNATURE_ONLY,
            )
        except (jwt.InvalidTokenError, jwt.PyJWKError) as error:
            raise Rejected("oidc: verify token: failed to verify signature: failed to verify id token signature") from error
        self._check(claims)
        return claims

    def _check(self, claims: dict[str, Any]) -> None:
        audience = claims.get("aud")
        held = [audience] if isinstance(audience, str) else audience if isinstance(audience, list) else []
        if not {*self._issuer.audiences} & {name for name in held if isinstance(name, str)}:
            wanted = ", ".join(f'"{name}"' for name in self._issuer.audiences)
            raise Rejected(f"oidc: verify token: oidc: expected audience in [{wanted}]")
        expires, begins, now = claims.get("exp"), claims.get("nbf", 0), self._clock.now()
        if not isinstance(expires, int | float) or not isinstance(begins, int | float):
            raise Rejected("oidc: verify token: oidc: failed to unmarshal claims")
        if expires < now:
            raise Rejected("oidc: verify token: oidc: token is expired")
        if begins > now + _NOT_BEFORE_LEEWAY:
            raise Rejected("oidc: verify token: oidc: current time before the nbf (not before) time")

    def _remember(self, token: str, user: UserInfo, until: float) -> None:
        self._accepted[token] = (user, until)
        self._accepted.move_to_end(token)
        if len(self._accepted) > _REMEMBERED:
            self._accepted.popitem(last=False)
