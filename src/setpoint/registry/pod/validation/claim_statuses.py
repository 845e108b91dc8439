"""Claims for resources that were made for a pod, as its status tells of them.

Source: `pkg/apis/core/validation/validation.go` (validatePodResourceClaimStatuses, validatePodExtendedResourceClaimStatus).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import duplicate, invalid, required
from setpoint.registry.fields import Errors, complain, dns_label, required_subdomain

Status = Mapping[str, Any]

_MAPPED = ("containerName", "resourceName", "requestName")


def validate_claim_statuses(status: Status, spec: Mapping[str, Any]) -> Errors:
    errors = _claims("status.resourceClaimStatuses", status.get("resourceClaimStatuses") or (), spec)
    extended = status.get("extendedResourceClaimStatus")
    if extended is None:
        return errors
    path = "status.extendedResourceClaimStatus"
    errors += _mappings(path, extended.get("requestMappings") or (), spec)
    return errors + required_subdomain(f"{path}.resourceClaimName", extended.get("resourceClaimName", ""))


def _claims(path: str, entries: Sequence[Status], spec: Mapping[str, Any]) -> Errors:
    known = {claim.get("name") for claim in spec.get("resourceClaims") or ()}
    errors: Errors = []
    seen: set[str] = set()
    for i, entry in enumerate(entries):
        name, claim = entry.get("name", ""), entry.get("resourceClaimName")
        if name not in known:
            errors.append(invalid(f"{path}[{i}].name", name, "must match the name of an entry in `spec.resourceClaims`"))
        if name in seen:
            errors.append(duplicate(f"{path}[{i}].name", name))
        seen.add(name)
        if claim is not None:
            errors += complain(f"{path}[{i}].resourceClaimName", claim, names.dns_subdomain(claim))
    return errors


def _mappings(path: str, mappings: Sequence[Status], spec: Mapping[str, Any]) -> Errors:
    """Which request of the claim stands for which extended resource of which container (KEP-5004)."""
    where = f"{path}.requestMappings"
    errors: Errors = [] if mappings else [required(where, "at least one request mapping is required")]
    seen: set[tuple[str, ...]] = set()
    for i, mapping in enumerate(mappings):
        errors += _asked_for(f"{where}[{i}]", mapping, spec)
        errors += dns_label(f"{path}.requestName", mapping.get("requestName", ""))
        key = tuple(mapping.get(field, "") for field in _MAPPED)
        if key in seen:
            errors += [duplicate(f"{where}[{i}].{field}", value) for field, value in zip(_MAPPED, key, strict=True)]
        seen.add(key)
    return errors


def _asked_for(path: str, mapping: Status, spec: Mapping[str, Any]) -> Errors:
    name, resource = mapping.get("containerName", ""), mapping.get("resourceName", "")
    containers = {one.get("name"): one for field in ("initContainers", "containers") for one in spec.get(field) or ()}
    if name not in containers:
        why = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
        return [invalid(f"{path}.containerName", name, why)]
    if resource in ((containers[name].get("resources") or {}).get("requests") or {}):
        return []
    wanted = "spec.initContainers.resources.requests or spec.containers.resources.requests"
    return [invalid(f"{path}.resourceName", resource, f"must match the extended resource name of an entry in {wanted}")]
