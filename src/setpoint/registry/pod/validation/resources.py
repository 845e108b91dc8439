"""Requests and limits of containers and of whole pods, and their resource names.

Source: `pkg/apis/core/helper` for what a resource name is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names, quantity
from setpoint.api.machinery.quantity import Quantity
from setpoint.api.machinery.status import FieldError, duplicate, forbidden, invalid, not_supported, required
from setpoint.registry import formats
from setpoint.registry.fields import Errors, complain, dns_label

COMPUTE = ("cpu", "memory")
_HUGE = "hugepages-"
_CONTAINER_RESOURCES = {"cpu", "memory", "ephemeral-storage"}
_COUNTED = {
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
}
STANDARD = {
    *_CONTAINER_RESOURCES,
    *_COUNTED,
    "storage",
    "requests.storage",
    *(f"{side}.{name}" for side in ("requests", "limits") for name in _CONTAINER_RESOURCES),
}


def is_huge_page(name: str) -> bool:
    return name.startswith(_HUGE)


def is_quota_huge_page(name: str) -> bool:
    """As a quota names them, too."""
    return name.startswith((_HUGE, f"requests.{_HUGE}"))


def is_native(name: str) -> bool:
    """Kubernetes' own: without a domain, or one of kubernetes.io's."""
    return "/" not in name or "kubernetes.io/" in name


def is_overcommit_allowed(name: str) -> bool:
    return is_native(name) and not is_huge_page(name)


def is_extended(name: str) -> bool:
    """A resource that a device plugin or an operator advertises; counted in whole units."""
    if is_native(name) or name.startswith("requests."):
        return False
    return not names.qualified_name(f"requests.{name}")


def is_pod_level(name: str) -> bool:
    return name in COMPUTE or is_huge_page(name)


def resource_name(path: str, name: str) -> Errors:
    errors = complain(path, name, names.qualified_name(name))
    if not errors and "/" not in name and name not in STANDARD and not is_quota_huge_page(name):
        errors.append(invalid(path, name, "must be a standard resource type or fully qualified"))
    return errors


def container_resource_name(path: str, name: str) -> Errors:
    errors = resource_name(path, name)
    if "/" not in name:
        if name not in _CONTAINER_RESOURCES and not is_huge_page(name):
            errors.append(invalid(path, name, "must be a standard resource for containers"))
    elif not is_native(name) and not is_extended(name):
        errors.append(invalid(path, name, "doesn't follow extended resource name standard"))
    return errors


def _pod_resource_name(path: str, name: str) -> Errors:
    errors = resource_name(path, name)
    if errors or is_pod_level(name):
        return errors
    return [not_supported(path, name, ("cpu", _HUGE, "memory"))]


def amount(value: Any) -> Quantity:
    """A quantity of an object that has been decoded: always well-formed."""
    return quantity.parse(str(value))


def resource_amount(path: str, name: str, value: Any) -> Errors:
    """Not negative, and whole where the resource is counted."""
    parsed = amount(value)
    errors = [invalid(path, str(parsed), formats.NOT_NEGATIVE)] if parsed.nanos < 0 else []
    if (name in _COUNTED or is_extended(name)) and parsed.milli_value() % 1000:
        errors.append(invalid(path, str(parsed), formats.INTEGER))
    return errors


def validate_container_resources(path: str, resources: Mapping[str, Any], claim_names: frozenset[str]) -> Errors:
    return _requirements(path, resources, container_resource_name, claim_names)


def _requirements(
    path: str,
    resources: Mapping[str, Any],
    check_name: Callable[[str, str], Errors],
    claim_names: frozenset[str],
) -> Errors:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    errors: Errors = []
    for name, value in sorted(limits.items()):
        here = f"{path}.limits[{name}]"
        errors += check_name(here, name) + resource_amount(here, name, value) + _huge_page(here, name, value)
    for name, value in sorted(requests.items()):
        here = f"{path}.requests[{name}]"
        errors += check_name(here, name) + resource_amount(here, name, value)
        errors += _against_limit(path, name, amount(value), limits)
        errors += _huge_page(here, name, value)
    both = {*limits, *requests}
    if any(map(is_huge_page, both)) and not both.intersection(COMPUTE):
        errors.append(forbidden(path, "HugePages require cpu or memory"))
    return errors + _claims(f"{path}.claims", resources.get("claims") or (), claim_names)


def _against_limit(path: str, name: str, request: Quantity, limits: Mapping[str, Any]) -> Errors:
    if name not in limits:
        if is_overcommit_allowed(name):
            return []
        return [required(f"{path}.limits", "Limit must be set for non overcommitable resources")]
    limit = amount(limits[name])
    if request != limit and not is_overcommit_allowed(name):
        return [invalid(f"{path}.requests", str(request), f"must be equal to {name} limit of {limit}")]
    if request > limit:
        return [invalid(f"{path}.requests", str(request), f"must be less than or equal to {name} limit of {limit}")]
    return []


def _huge_page(path: str, name: str, value: Any) -> Errors:
    if not is_huge_page(name):
        return []
    parsed = amount(value)
    try:
        page = quantity.parse(name.removeprefix(_HUGE))
    except quantity.QuantityError:
        page = quantity.ZERO
    if page.value() > 0 and parsed.value() % page.value() == 0:
        return []
    return [invalid(path, str(parsed), f"{parsed} is not positive integer multiple of {name}")]


def _claims(path: str, claims: Sequence[Mapping[str, Any]], claim_names: frozenset[str]) -> Errors:
    """References to the pod's resource claims: a claim as a whole, or single requests of it, each once."""
    errors: Errors = []
    seen: set[str] = set()
    for i, claim in enumerate(claims):
        here, name, request = f"{path}[{i}]", claim.get("name", ""), claim.get("request", "")
        if not name:
            errors.append(required(here))
            continue
        if name in seen:
            errors.append(duplicate(here, name))
        else:
            key = f"{name}/{request}" if request else name
            errors += dns_label(f"{here}.request", request) if request else []
            if key in seen:
                errors.append(duplicate(here, key))
            elif not request:
                errors += [duplicate(here, name) for other in sorted(seen) if other.startswith(f"{name}/")]
            seen.add(key)
        if name not in claim_names:
            listed = f": {', '.join(sorted(claim_names))}" if claim_names else " which is empty"
            why = f"must be one of the names in pod.spec.resourceClaims{listed}"
            errors.append(FieldError("FieldValueNotFound", here, name, why))
    return errors


def validate_pod_resources(path: str, spec: Mapping[str, Any], claim_names: frozenset[str]) -> Errors:
    """The pod-level requests and limits (KEP-2837), which bound those of the containers."""
    from setpoint.registry.pod.aggregate import aggregate_limits, aggregate_requests

    resources = spec.get("resources")
    if resources is None:
        return []
    if (spec.get("os") or {}).get("name") == "windows":
        return [forbidden(path, "may not be set for a windows pod")]
    errors: Errors = []
    if resources.get("claims") is not None:
        errors.append(forbidden(f"{path}.claims", "claims may not be set for Resources at pod-level"))
    errors += _requirements(path, resources, _pod_resource_name, claim_names)
    limits = resources.get("limits") or {}
    errors += _covers(path, "requests", resources.get("requests") or {}, aggregate_requests(spec))
    # huge pages cannot be overcommitted
    pages = {name: total for name, total in aggregate_limits(spec).items() if is_huge_page(name)}
    errors += _covers(path, "limits", limits, pages)
    return errors + _container_limits(path, spec, limits)


def _covers(path: str, side: str, own: Mapping[str, Any], totals: Mapping[str, Quantity]) -> Errors:
    """What the pod names must suffice for its containers together."""
    return [
        invalid(
            f"{path}.{side}[{name}]",
            str(amount(own[name])),
            f"must be greater than or equal to aggregate container {side} of {total}",
        )
        for name, total in sorted(totals.items())
        if name in own and total > amount(own[name])
    ]


def _container_limits(path: str, spec: Mapping[str, Any], pod_limits: Mapping[str, Any]) -> Errors:
    errors: Errors = []
    for i, container in enumerate(spec.get("containers") or ()):
        limits = (container.get("resources") or {}).get("limits") or {}
        for name, value in sorted(limits.items()):
            if name in pod_limits and amount(value) > amount(pod_limits[name]):
                why = f"must be less than or equal to pod limits of {amount(pod_limits[name])}"
                errors.append(invalid(f"{path}.containers[{i}][{name}].limits", str(amount(value)), why))
    return errors
