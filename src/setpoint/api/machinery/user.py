"""Who asks: the identity that authentication finds and everything after it uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field


class UserInfo(Struct, frozen=True):
    """`authentication.k8s.io/v1 UserInfo`."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """As reviews tell it, without what is empty."""
        told: dict[str, Any] = {"username": self.name}
        if self.uid:
            told["uid"] = self.uid
        if self.groups:
            told["groups"] = list(self.groups)
        if self.extra:
            told["extra"] = {name: list(values) for name, values in self.extra.items()}
        return told


ADMIN = UserInfo("kubernetes-admin", groups=("system:masters", "system:authenticated"))
ANONYMOUS = UserInfo("system:anonymous", groups=("system:unauthenticated",))
