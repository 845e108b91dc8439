"""Bootstrap tokens: `<id>.<secret>`, kept in Secrets of kube-system, with which a machine that joins proves itself once.

Source: Kubernetes `plugin/pkg/auth/authenticator/token/bootstrap`, `cluster-bootstrap/util/secrets`.
"""

from __future__ import annotations

import hmac
import re
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authentication.service_accounts import Objects
from setpoint.kit import logs
from setpoint.kit.clock import Clock, parse_rfc3339

log = logs.get_logger("apiserver.authentication")

NAMESPACE = "kube-system"
TYPE = "bootstrap.kubernetes.io/token"
PREFIX = "bootstrap-token-"
GROUP = "system:bootstrappers"
_TOKEN = re.compile(r"([a-z0-9]{6})\.([a-z0-9]{16})")
_GROUP = re.compile(r"system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]")


class BootstrapTokens:
    """Knows the tokens that Secrets of kube-system hold."""

    def __init__(self, objects: Objects, clock: Clock) -> None:
        self._objects = objects
        self._clock = clock

    async def user_of(self, token: str) -> UserInfo | None:
        """`system:bootstrap:<id>` with its groups; None for anything but a token that is to be used for this, and in time."""
        match = _TOKEN.fullmatch(token)
        if match is None:
            return None
        token_id, given = match.groups()
        secret = await self._objects.find("secrets", NAMESPACE, f"{PREFIX}{token_id}")
        if secret is None or secret["metadata"].get("deletionTimestamp") or secret.get("type") != TYPE:
            return None
        data = plain(secret)
        if not hmac.compare_digest(data.get("token-secret", "").encode(), given.encode()) or data.get("token-id") != token_id:
            return None
        if expired(data, self._clock.now()) or data.get("usage-bootstrap-authentication") != "true":
            return None
        groups = groups_of(data)
        if groups is None:
            log.warning("groups of a bootstrap token are not acceptable", secret=secret["metadata"]["name"])
            return None
        return UserInfo(f"system:bootstrap:{token_id}", groups=(*groups, "system:authenticated"))


def plain(secret: Mapping[str, Any]) -> dict[str, str]:
    """The texts in a Secret; what is no text is left out."""
    found: dict[str, str] = {}
    for key, value in (secret.get("data") or {}).items():
        try:
            found[key] = b64decode(value or "").decode()
        except ValueError:
            continue
    return found


def expired(data: Mapping[str, str], now: float) -> bool:
    """Whether a token's time is over; one whose time cannot be read is over, too."""
    until = data.get("expiration", "")
    try:
        return bool(until) and parse_rfc3339(until) <= now
    except ValueError:
        return True


def groups_of(data: Mapping[str, str]) -> tuple[str, ...] | None:
    """The groups of a token's user; None where it asks for one that is not for joining machines."""
    extra = data.get("auth-extra-groups", "")
    names = {GROUP, *(extra.split(",") if extra else ())}
    if any(name != GROUP and _GROUP.fullmatch(name) is None for name in names):
        return None
    return tuple(sorted(names))
