"""Client certificates: the common name is the user, the organisations its groups. TLS has already checked the chain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.user import UserInfo


def user_of(peer: Mapping[str, Any] | None) -> UserInfo | None:
    """The user of a peer certificate as `SSLObject.getpeercert()` describes it; None without one or without a name."""
    if not peer:
        return None
    names = [pair for part in peer.get("subject", ()) for pair in part]
    user = next((value for key, value in names if key == "commonName"), "")
    if not user:
        return None
    return UserInfo(user, groups=tuple(value for key, value in names if key == "organizationName"))
