"""Service account tokens: signed JWTs, bound to an account and optionally to a pod or Secret, and void once those are gone.

Claims as in Kubernetes' bound tokens (KEP-1205): `sub` is `system:serviceaccount:<namespace>:<name>`, `kubernetes.io` names the
account, pod and node with their uids.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

from msgspec import Struct

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authentication.signing_key import SigningKey
from setpoint.kit.clock import Clock, parse_rfc3339

ISSUER = "https://kubernetes.default.svc"
_DELETION_LEEWAY = 60.0  # seconds that a token outlives the deletionTimestamp of what it is bound to (behaviour B43)


class Objects(Protocol):
    """What tokens are checked against: the current objects."""

    async def find(self, group_resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """The object, None if there is none."""


class Bound(Struct, frozen=True):
    """An object that a token lives and dies with: `kind` is Pod, Node or Secret."""

    kind: str
    name: str
    uid: str


class ServiceAccountTokens:
    """Issues and accepts tokens signed with the cluster's key."""

    def __init__(self, key: SigningKey, objects: Objects, clock: Clock, *, issuer: str = ISSUER) -> None:
        self.issuer = issuer
        self.key = key
        self._objects = objects
        self._clock = clock
        self._verified = lru_cache(maxsize=4096)(self._verify)

    def issue(
        self,
        namespace: str,
        account: Mapping[str, Any],
        *,
        audiences: Sequence[str],
        seconds: int,
        bound: Sequence[Bound] = (),
    ) -> tuple[str, float]:
        """A new token and the moment (seconds since the epoch) at which it expires. `account` is the ServiceAccount object."""
        import jwt

        now = self._clock.now()
        metadata = account["metadata"]
        claims = {
            "aud": list(audiences),
            "exp": int(now + seconds),
            "iat": int(now),
            "iss": self.issuer,
            "jti": str(uuid.uuid4()),
            "kubernetes.io": {
                "namespace": namespace,
                **{item.kind.lower(): {"name": item.name, "uid": item.uid} for item in bound},
                "serviceaccount": {"name": metadata["name"], "uid": metadata["uid"]},
            },
            "nbf": int(now),
            "sub": f"system:serviceaccount:{namespace}:{metadata['name']}",
        }
        headers = {"kid": self.key.id}
        return jwt.encode(claims, self.key.private, algorithm=self.key.algorithm, headers=headers), float(int(now + seconds))

    async def user_of(self, token: str) -> UserInfo | None:
        """The account behind a token for this API server; None if it is not ours, expired, or its objects are gone."""
        found = await self.user_for(token, (self.issuer,))
        return found[0] if found is not None else None

    async def user_for(self, token: str, audiences: Sequence[str]) -> tuple[UserInfo, list[str]] | None:
        """The account behind a token, and for which of the audiences it is; None if for none of them."""
        claims = self._claims(token) if token.count(".") == 2 else None
        if claims is None or not self._in_time(claims):
            return None
        meant = [audience for audience in audiences if audience in claims.get("aud", ())]
        private = claims["kubernetes.io"]
        if not meant or not await self._all_alive(private):
            return None
        return _user(private, str(claims.get("jti", ""))), meant

    def _claims(self, token: str) -> dict[str, Any] | None:
        import jwt

        try:
            return self._verified(token)  # remembers what is ours; what is not takes no place
        except jwt.InvalidTokenError:
            return None

    def _verify(self, token: str) -> dict[str, Any]:
        import jwt

        return jwt.decode(
            token,
            self.key.public,
            algorithms=[self.key.algorithm],
            issuer=self.issuer,
            # time is judged on our clock at each use, the audience likewise
            options={"verify_exp": False, "verify_nbf": False, "verify_iat": False, "verify_aud": False},
        )

    def _in_time(self, claims: Mapping[str, Any]) -> bool:
        return bool(claims.get("nbf", 0) <= self._clock.now() + 1 and self._clock.now() < claims.get("exp", 0))

    async def _all_alive(self, private: Mapping[str, Any]) -> bool:
        namespace = private["namespace"]
        bound = [("serviceaccounts", namespace, private.get("serviceaccount"))]
        bound += [("pods", namespace, private.get("pod")), ("secrets", namespace, private.get("secret"))]
        if private.get("pod") is None:
            bound.append(("nodes", "", private.get("node")))
        for resource, scope, wanted in bound:
            if wanted is not None and not self._alive(await self._objects.find(resource, scope, wanted["name"]), wanted["uid"]):
                return False
        return True

    def _alive(self, found: Mapping[str, Any] | None, uid: str) -> bool:
        if found is None or found["metadata"]["uid"] != uid:
            return False
        deleted = found["metadata"].get("deletionTimestamp")
        return not deleted or parse_rfc3339(deleted) + _DELETION_LEEWAY > self._clock.now()


def _user(private: Mapping[str, Any], token_id: str) -> UserInfo:
    namespace, account = private["namespace"], private["serviceaccount"]
    extra: dict[str, tuple[str, ...]] = {"authentication.kubernetes.io/credential-id": (f"JTI={token_id}",)}
    if pod := private.get("pod"):
        extra["authentication.kubernetes.io/pod-name"] = (pod["name"],)
        extra["authentication.kubernetes.io/pod-uid"] = (pod["uid"],)
    if node := private.get("node"):
        extra["authentication.kubernetes.io/node-name"] = (node["name"],)
        extra["authentication.kubernetes.io/node-uid"] = (node["uid"],)
    return UserInfo(
        f"system:serviceaccount:{namespace}:{account['name']}",
        account["uid"],
        ("system:serviceaccounts", f"system:serviceaccounts:{namespace}"),
        extra,
    )
