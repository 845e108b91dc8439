"""Tokens of the old kind: without expiry, kept in a Secret of type `kubernetes.io/service-account-token`, good while in there.

Source: Kubernetes `pkg/serviceaccount/legacy.go`.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from setpoint.apiserver.authentication.signing_key import SigningKey

ISSUER = "kubernetes/serviceaccount"
INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since"
MARKED = (
    "the token in secret {}/{} for service account {}/{} has been marked invalid. Use tokens from the TokenRequest API or "
    "manually created secret-based tokens, or remove the 'kubernetes.io/legacy-token-invalid-since' label from the secret to "
    "temporarily allow use of this token"
)
_PREFIX = "kubernetes.io/serviceaccount/"


class LegacyClaims(Struct, frozen=True):
    """Whose a token is, and the Secret that holds it."""

    namespace: str
    account: str
    uid: str
    secret: str


def sign(key: SigningKey, held: LegacyClaims) -> str:
    """The token for a Secret of an account."""
    import jwt

    claims = {
        "iss": ISSUER,
        f"{_PREFIX}namespace": held.namespace,
        f"{_PREFIX}secret.name": held.secret,
        f"{_PREFIX}service-account.name": held.account,
        f"{_PREFIX}service-account.uid": held.uid,
        "sub": f"system:serviceaccount:{held.namespace}:{held.account}",
    }
    return jwt.encode(claims, key.private, algorithm=key.algorithm, headers={"kid": key.id})


def read(claims: Mapping[str, Any]) -> LegacyClaims:
    """What verified claims say; raises KeyError or ValueError where they lack something or contradict themselves."""
    words = ("namespace", "service-account.name", "service-account.uid", "secret.name")
    held = LegacyClaims(*(str(claims[f"{_PREFIX}{word}"]) for word in words))
    if claims["sub"] != f"system:serviceaccount:{held.namespace}:{held.account}" or not held.secret or not held.uid:
        raise ValueError("sub claim is invalid")
    return held


def holds(secret: Mapping[str, Any], token: str) -> bool:
    """Whether a Secret holds exactly this token."""
    try:
        held = base64.b64decode((secret.get("data") or {}).get("token") or "")
    except ValueError:
        return False
    return hmac.compare_digest(held, token.encode())
