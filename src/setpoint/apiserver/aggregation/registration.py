"""One APIService that another server stands behind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from setpoint.apiserver.webhooks.services import host_of

_PORT = 443


class Registration(Struct, frozen=True):
    """Which server answers for a group's version."""

    name: str
    group: str
    version: str
    namespace: str
    service: str
    port: int
    bundle: str
    insecure: bool
    available: bool

    @property
    def url(self) -> str:
        return f"https://{host_of(self.namespace, self.service)}:{self.port}"

    @property
    def path(self) -> str:
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"


def read(obj: Mapping[str, Any]) -> Registration | None:
    """The registration of an APIService; None of one that this server serves itself."""
    spec = obj.get("spec") or {}
    service = spec.get("service")
    if service is None:
        return None
    return Registration(
        name=obj["metadata"]["name"],
        group=spec.get("group") or "",
        version=spec.get("version") or "",
        namespace=service.get("namespace") or "",
        service=service.get("name") or "",
        port=service.get("port") or _PORT,
        bundle=spec.get("caBundle") or "",
        insecure=bool(spec.get("insecureSkipTLSVerify")),
        available=_is_available(obj),
    )


def _is_available(obj: Mapping[str, Any]) -> bool:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return any(each.get("type") == "Available" and each.get("status") == "True" for each in conditions)
