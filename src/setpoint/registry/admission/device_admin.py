"""Devices that others use, too: access for administration is for namespaces that are marked for it.

Source: `pkg/registry/resource/utils.go` (KEP-5018).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery.status import forbidden, invalid_object
from setpoint.registry.admission.chain import BaseStep
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest

_LABEL = "resource.kubernetes.io/admin-access"
_CLAIMS = "resourceclaims.resource.k8s.io"
_WRITES = {
    ("CREATE", _CLAIMS, ""),
    ("CREATE", "resourceclaimtemplates.resource.k8s.io", ""),
    ("UPDATE", _CLAIMS, "status"),
}
_WHY = f"admin access to devices requires the `{_LABEL}: true` label on the containing namespace"

Wishes = Sequence[Mapping[str, Any]]


class DeviceAdmin(BaseStep):
    """Looks at what is asked for, and at what is given; who has it already keeps it."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return (operation, group_resource, subresource) in _WRITES

    async def validate(self, request: AdmissionRequest) -> None:
        path = _path(request)
        if not path:
            return
        namespace = await self._reader.get("namespaces", "", request.namespace) or {}
        if ((namespace.get("metadata") or {}).get("labels") or {}).get(_LABEL) != "true":
            raise invalid_object(request.resource.group, request.resource.kind, request.name, [forbidden(path, _WHY)])


def _path(request: AdmissionRequest) -> str:
    """Where such access stands; empty: nowhere."""
    if request.subresource:
        i = -1 if _first(_results(request.old)) >= 0 else _first(_results(request.obj))
        return f"status.allocation.devices.results[{i}].adminAccess" if i >= 0 else ""
    spec = (request.obj or {}).get("spec") or {}
    spec = (spec.get("spec") or {}) if request.resource.kind == "ResourceClaimTemplate" else spec
    requests = (spec.get("devices") or {}).get("requests") or ()
    i = _first([each.get("exactly") or {} for each in requests])
    return f"spec.devices.requests[{i}].adminAccess" if i >= 0 else ""


def _first(holders: Wishes) -> int:
    return next((i for i, holder in enumerate(holders) if holder.get("adminAccess")), -1)


def _results(claim: Mapping[str, Any] | None) -> Wishes:
    allocation = ((claim or {}).get("status") or {}).get("allocation") or {}
    return (allocation.get("devices") or {}).get("results") or ()
