"""Bootstrap tokens: `<id>.<secret>`, kept in Secrets of kube-system, with which a machine that joins proves itself once.

Source: Kubernetes `plugin/pkg/auth/authenticator/token/bootstrap`.
"""

from __future__ import annotations

import hmac

from setpoint.api.machinery.bootstrap_tokens import AUTHENTICATION, NAMESPACE, PREFIX, TOKEN, TYPE, expired, groups_of, plain
from setpoint.api.machinery.user import UserInfo
from setpoint.kit import logs
from setpoint.kit.clock import Clock
from setpoint.registry.admission.reader import Getter

log = logs.get_logger("apiserver.authentication")


class BootstrapTokens:
    """Knows the tokens that Secrets of kube-system hold."""

    def __init__(self, objects: Getter, clock: Clock) -> None:
        self._objects = objects
        self._clock = clock

    async def user_of(self, token: str) -> UserInfo | None:
        """`system:bootstrap:<id>` with its groups; None for anything but a token that is to be used for this, and in time."""
        match = TOKEN.fullmatch(token)
        if match is None:
            return None
        token_id, given = match.groups()
        secret = await self._objects.get("secrets", NAMESPACE, f"{PREFIX}{token_id}")
        if secret is None or secret["metadata"].get("deletionTimestamp") or secret.get("type") != TYPE:
            return None
        data = plain(secret.get("data") or {})
        if not hmac.compare_digest(data.get("token-secret", "").encode(), given.encode()) or data.get("token-id") != token_id:
            return None
        if expired(data, self._clock.now()) or data.get(AUTHENTICATION) != "true":
            return None
        groups = groups_of(data)
        if groups is None:
            log.warning("groups of a bootstrap token are not acceptable", secret=secret["metadata"]["name"])
            return None
        return UserInfo(f"system:bootstrap:{token_id}", groups=(*groups, "system:authenticated"))
