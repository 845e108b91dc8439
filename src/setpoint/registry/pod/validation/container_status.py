"""What a node reports of a container's user and of the health of its devices.

Source: `pkg/apis/core/validation/validation.go` (validateContainerStatusUsers, validateContainerStatusAllocatedResourcesStatus).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import duplicate, forbidden, invalid, not_supported, required, too_long
from setpoint.registry.fields import Errors, complain

Status = Mapping[str, Any]

_KINDS = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
_HEALTH = ("Healthy", "Unhealthy", "Unknown")
_LONGEST_MESSAGE = 1024  # bytes
_NO_CLAIM = (
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>'"
    " if request is empty"
)


def validate_container_statuses(status: Status, spec: Mapping[str, Any]) -> Errors:
    system = (spec.get("os") or {}).get("name", "linux")
    errors: Errors = []
    for kind in _KINDS:
        for i, one in enumerate(status.get(kind) or ()):
            if one.get("user") is not None:
                errors += _user(f"status.{kind}[{i}].user.linux", one["user"].get("linux"), system)
    for kind, field in zip(_KINDS, ("containers", "initContainers"), strict=False):
        containers = {container.get("name"): container for container in reversed(spec.get(field) or ())}
        for i, one in enumerate(status.get(kind) or ()):
            path, allocated = f"status.{kind}[{i}].allocatedResourcesStatus", one.get("allocatedResourcesStatus") or ()
            errors += _allocated(path, allocated, containers.get(one.get("name")))
    why = "must not be specified in container status"
    return errors + [
        forbidden(f"status.{_KINDS[2]}[{i}].allocatedResourcesStatus", why)
        for i, one in enumerate(status.get(_KINDS[2]) or ())
        if one.get("allocatedResourcesStatus")
    ]


def _user(path: str, user: Mapping[str, Any] | None, system: str) -> Errors:
    if user is None:
        return []
    if system == "windows":
        return [forbidden(path, "cannot be set for a windows pod")]
    errors: Errors = []
    for field in ("uid", "gid"):
        errors += complain(f"{path}.{field}", user.get(field, 0), names.user_id(user.get(field, 0)))
    for i, group in enumerate(user.get("supplementalGroups") or ()):
        errors += complain(f"{path}.supplementalGroups[{i}]", group, names.user_id(group))
    return errors


def _allocated(path: str, allocated: Sequence[Status], container: Mapping[str, Any] | None) -> Errors:
    errors: Errors = []
    for j, entry in enumerate(allocated):
        here, name = f"{path}[{j}]", entry.get("name", "")
        if container is not None and name not in _known(container):
            why = _NO_CLAIM if name.startswith("claim:") else "must match one of the container's resource requests"
            errors.append(invalid(f"{here}.name", name, why))
        seen: set[str] = set()
        for k, resource in enumerate(entry.get("resources") or ()):
            health, identity = resource.get("health", ""), resource.get("resourceID", "")
            if health not in _HEALTH:
                errors.append(not_supported(f"{here}.resources[{k}].health", health, _HEALTH))
            errors += _message(f"{here}.resources[{k}].message", resource.get("message"))
            if identity in seen:
                errors.append(duplicate(f"{here}.resources[{k}].resourceID", identity))
            seen.add(identity)
    return errors


def _message(path: str, message: str | None) -> Errors:
    if message is None:
        return []
    if not message:
        return [required(path, "must be non-empty if specified")]
    return [too_long(path, _LONGEST_MESSAGE)] if names.length(message) > _LONGEST_MESSAGE else []


def _known(container: Mapping[str, Any]) -> set[str]:
    """What may be allocated to a container: its claims and its requests."""
    resources = container.get("resources") or {}
    claims = {
        f"claim:{claim.get('name', '')}" + (f"/{claim['request']}" if claim.get("request") else "")
        for claim in resources.get("claims") or ()
    }
    return claims | set(resources.get("requests") or ())
