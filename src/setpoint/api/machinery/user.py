"""Who asks: the identity that authentication finds and everything after it uses."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field


class UserInfo(Struct, frozen=True):
    """`authentication.k8s.io/v1 UserInfo`."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


ADMIN = UserInfo("kubernetes-admin", groups=("system:masters", "system:authenticated"))
ANONYMOUS = UserInfo("system:anonymous", groups=("system:unauthenticated",))
