"""Bootstrap tokens as Secrets of kube-system hold them: what they may be used for, until when, for which groups.

Source: Kubernetes `cluster-bootstrap/token/api`, `cluster-bootstrap/util/secrets`.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Mapping

from setpoint.kit.clock import parse_rfc3339

NAMESPACE = "kube-system"
TYPE = "bootstrap.kubernetes.io/token"
PREFIX = "bootstrap-token-"
GROUP = "system:bootstrappers"
TOKEN = re.compile(r"([a-z0-9]{6})\.([a-z0-9]{16})")
AUTHENTICATION, SIGNING = "usage-bootstrap-authentication", "usage-bootstrap-signing"
_GROUP = re.compile(r"system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]")


def plain(data: Mapping[str, str | None]) -> dict[str, str]:
    """The texts in a Secret's data; what is no text is left out."""
    found: dict[str, str] = {}
    for key, value in data.items():
        try:
            found[key] = b64decode(value or "").decode()
        except ValueError:
            continue
    return found


def expires(data: Mapping[str, str]) -> float | None:
    """When a token's time is over (seconds since the epoch; None: never). One whose time cannot be read is over."""
    until = data.get("expiration", "")
    try:
        return parse_rfc3339(until) if until else None
    except ValueError:
        return 0.0


def expired(data: Mapping[str, str], now: float) -> bool:
    until = expires(data)
    return until is not None and until <= now


def groups_of(data: Mapping[str, str]) -> tuple[str, ...] | None:
    """The groups of a token's user; None where it asks for one that is not for joining machines."""
    extra = data.get("auth-extra-groups", "")
    names = {GROUP, *(extra.split(",") if extra else ())}
    if any(name != GROUP and _GROUP.fullmatch(name) is None for name in names):
        return None
    return tuple(sorted(names))
