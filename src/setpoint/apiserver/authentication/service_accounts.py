"""Service account tokens: signed JWTs, bound to an account and optionally to a pod, Secret or node, and void once those are gone.

Claims as in Kubernetes' bound tokens (KEP-1205): `sub` is `system:serviceaccount:<namespace>:<name>`, `kubernetes.io` names the
account, pod and node with their uids. Tokens of the old kind, kept in Secrets, have an issuer and claims of their own
(`legacy_tokens.py`). Source: Kubernetes `pkg/serviceaccount/jwt.go`, `claims.go`.

A signature is verified once and remembered; whether a token is in time and its objects are there is asked at every use.
"""

from __future__ import annotations

import uuid
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import orjson
from msgspec import Struct

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authentication import legacy_tokens
from setpoint.apiserver.authentication.rejected import Rejected
from setpoint.apiserver.authentication.signing_key import SigningKey
from setpoint.kit.clock import Clock, parse_rfc3339
from setpoint.registry.admission.reader import Getter

ISSUER = "https://kubernetes.default.svc"
_DELETION_LEEWAY = 60.0  # seconds that a token outlives the deletionTimestamp of what it is bound to
_SKEW = 60.0  # seconds by which clocks may differ, as go-jose's DefaultLeeway
_INVALIDATED = "service account token has been invalidated"
_FORGED = "go-jose/go-jose: error in cryptographic primitive"
_EXTRA = "authentication.kubernetes.io/"


class Bound(Struct, frozen=True):
    """An object that a token lives and dies with: `kind` is Pod, Node or Secret. A pod's node may be named without its uid."""

    kind: str
    name: str
    uid: str


class Verified(Struct, frozen=True):
    """A token that we signed: whom it stands for and for how long (seconds since the epoch)."""

    user: UserInfo
    audiences: tuple[str, ...]
    not_before: float
    issued: float
    expires: float
    bound: tuple[tuple[str, str, str, str], ...]  # resource, namespace, name and uid of what it needs, the account first
    legacy: bool = False


class ServiceAccountTokens:
    """Issues and accepts tokens signed with the cluster's key."""

    def __init__(self, key: SigningKey, objects: Getter, clock: Clock, *, issuer: str = ISSUER) -> None:
        self.issuer = issuer
        self.key = key
        self._objects = objects
        self._clock = clock
        self._verified = lru_cache(maxsize=4096)(self._verify)
        #: told of each use of a token that a Secret holds
        self.legacy_used: Callable[[Mapping[str, Any]], None] = lambda _: None

    def issue(
        self,
        namespace: str,
        account: Mapping[str, Any],
        *,
        audiences: Sequence[str],
        seconds: int,
        bound: Sequence[Bound] = (),
        warn_after: int = 0,
    ) -> tuple[str, float]:
        """A new token and the moment (seconds since the epoch) at which it expires. `account` is the ServiceAccount object.

        `warn_after` seconds are written into the token as the time after which it should have been renewed (0: not).
        """
        import jwt

        now = int(self._clock.now())
        metadata = account["metadata"]
        claims = {
            "aud": list(audiences),
            "exp": now + seconds,
            "iat": now,
            "iss": self.issuer,
            "jti": str(uuid.uuid4()),
            "kubernetes.io": {
                "namespace": namespace,
                **{item.kind.lower(): _reference(item.name, item.uid) for item in bound},
                "serviceaccount": _reference(metadata["name"], metadata["uid"]),
                **({"warnafter": now + warn_after} if warn_after else {}),
            },
            "nbf": now,
            "sub": f"system:serviceaccount:{namespace}:{metadata['name']}",
        }
        headers = {"kid": self.key.id}
        return jwt.encode(claims, self.key.private, algorithm=self.key.algorithm, headers=headers), float(now + seconds)

    async def user_of(self, token: str) -> UserInfo | None:
        """The account behind a token for this API server; None if it is not ours, Rejected if it is void."""
        found = await self.user_for(token, (self.issuer,))
        return found[0] if found is not None else None

    async def user_for(self, token: str, audiences: Sequence[str]) -> tuple[UserInfo, list[str]] | None:
        """The account behind a token, and for which of the audiences it is; None if it is not ours, Rejected if it is void."""
        verified = self._known(token) if token.count(".") == 2 else None
        if verified is None:
            return None
        held = verified.audiences or (self.issuer,)
        meant = [audience for audience in audiences if audience in held]
        if not meant:
            raise Rejected(f"token audiences {_go_list(held)} is invalid for the target audiences {_go_list(audiences)}")
        if verified.legacy:
            await self._check_legacy(token, verified)
        else:
            self._check_time(verified)
            for place in verified.bound:
                await self._check_alive(*place)
        return verified.user, meant

    def _known(self, token: str) -> Verified | None:
        import jwt

        try:
            return self._verified(token)  # remembers what is ours; what is not takes no place
        except jwt.InvalidSignatureError:
            raise Rejected(_FORGED) from None
        except jwt.InvalidTokenError:
            return None

    def _verify(self, token: str) -> Verified:
        import jwt

        if _issuer(token) not in (self.issuer, legacy_tokens.ISSUER):
            raise jwt.InvalidIssuerError("another issuer's")  # before its signature costs anything
        claims = jwt.decode(
            token,
            self.key.public,
            algorithms=[self.key.algorithm],
            issuer=[self.issuer, legacy_tokens.ISSUER],
            # time is judged on our clock at each use, the audience likewise
            options={"verify_exp": False, "verify_nbf": False, "verify_iat": False, "verify_aud": False},
        )
        try:
            return _legacy(claims) if claims["iss"] == legacy_tokens.ISSUER else _bound(claims)
        except (KeyError, TypeError, ValueError) as error:
            raise jwt.InvalidTokenError("claims of a service account are missing") from error

    def _check_time(self, verified: Verified) -> None:
        now = self._clock.now()
        if now - _SKEW > verified.expires:
            raise Rejected("service account token has expired")
        if now + _SKEW < verified.not_before:
            raise Rejected("service account token is not valid yet")
        if now + _SKEW < verified.issued:
            raise Rejected("service account token is issued in the future")

    async def _check_alive(self, resource: str, namespace: str, name: str, uid: str) -> None:
        found = await self._objects.get(resource, namespace, name)
        account = resource == "serviceaccounts"
        if found is None:
            raise Rejected(f'serviceaccounts "{name}" not found' if account else _INVALIDATED)
        metadata = found["metadata"]
        if metadata["uid"] != uid:
            kind = "service account" if account else resource.removesuffix("s")
            claim = "claim" if account else f"service account {kind} ref claim"
            raise Rejected(f"{kind} UID ({metadata['uid']}) does not match {claim} ({uid})")
        deleted = metadata.get("deletionTimestamp")
        if deleted and parse_rfc3339(deleted) + _DELETION_LEEWAY < self._clock.now():
            raise Rejected(f"service account {namespace}/{name} has been deleted" if account else _INVALIDATED)

    async def _check_legacy(self, token: str, verified: Verified) -> None:
        """A token of a Secret is good as long as the Secret holds it and the account is there."""
        (_, namespace, account, uid), (_, _, secret, _) = verified.bound
        held = await self._objects.get("secrets", namespace, secret)
        if held is None or held["metadata"].get("deletionTimestamp"):
            raise Rejected(_INVALIDATED)
        if not legacy_tokens.holds(held, token):
            raise Rejected("service account token does not match server's copy")
        await self._check_alive("serviceaccounts", namespace, account, uid)
        self.legacy_used(held)
        if (held["metadata"].get("labels") or {}).get(legacy_tokens.INVALID_SINCE):
            raise Rejected(legacy_tokens.MARKED.format(namespace, secret, namespace, account))


def _issuer(token: str) -> str:
    """Who a token says that it is of, unverified; empty where it says nothing that can be read."""
    payload = token.split(".", 2)[1]
    try:
        claims = orjson.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return str(claims["iss"])
    except (ValueError, KeyError, TypeError):
        return ""


def _reference(name: str, uid: str) -> dict[str, str]:
    return {"name": name, "uid": uid} if uid else {"name": name}


def _bound(claims: Mapping[str, Any]) -> Verified:
    private = claims["kubernetes.io"]
    namespace, account = str(private["namespace"]), private["serviceaccount"]
    bound = [("serviceaccounts", namespace, account["name"], account["uid"])]
    for resource, scope in (("secrets", namespace), ("pods", namespace), ("nodes", "")):
        held = private.get(resource.removesuffix("s"))
        if held is not None and not (resource == "nodes" and "pod" in private):  # a pod's node is only told
            bound.append((resource, scope, held["name"], held["uid"]))
    user = _user(namespace, account["name"], account["uid"], _extra(private, str(claims.get("jti", ""))))
    audience = claims.get("aud") or ()
    audiences = (audience,) if isinstance(audience, str) else tuple(audience)
    begins, issued = float(claims.get("nbf", 0)), float(claims.get("iat", 0))
    return Verified(user, audiences, begins, issued, float(claims["exp"]), tuple(bound))


def _legacy(claims: Mapping[str, Any]) -> Verified:
    held = legacy_tokens.read(claims)
    bound = (("serviceaccounts", held.namespace, held.account, held.uid), ("secrets", held.namespace, held.secret, ""))
    return Verified(_user(held.namespace, held.account, held.uid, {}), (), 0.0, 0.0, 0.0, bound, legacy=True)


def _user(namespace: str, name: str, uid: str, extra: Mapping[str, tuple[str, ...]]) -> UserInfo:
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return UserInfo(f"system:serviceaccount:{namespace}:{name}", uid, groups, extra)


def _extra(private: Mapping[str, Any], token_id: str) -> dict[str, tuple[str, ...]]:
    extra: dict[str, tuple[str, ...]] = {}
    if token_id:
        extra[f"{_EXTRA}credential-id"] = (f"JTI={token_id}",)
    for kind in ("pod", "node"):
        if held := private.get(kind):
            extra[f"{_EXTRA}{kind}-name"] = (held["name"],)
            if held.get("uid"):
                extra[f"{_EXTRA}{kind}-uid"] = (held["uid"],)
    return extra


def _go_list(values: Sequence[str]) -> str:
    """As Go prints a list of texts with `%q`."""
    return "[" + " ".join(f'"{value}"' for value in values) + "]"
