"""ResourceQuotas.

Source: `pkg/apis/core/validation/validation.go` (ValidateResourceQuota), `pkg/apis/core/helper`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from setpoint.api.machinery import quantity
from setpoint.api.machinery.status import FieldError, invalid, required
from setpoint.registry import formats, go_form
from setpoint.registry.fields import Errors
from setpoint.registry.pod.validation.resources import STANDARD, is_quota_huge_page, resource_amount, resource_name
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Context, Object

_SCOPES = {
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
}
_EXISTS_ONLY = {"BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity"}
_PAIRS = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
_COMPUTE = {
    "pods",
    *(f"{prefix}{name}" for prefix in ("", "requests.", "limits.") for name in ("cpu", "memory")),
}
_CLAIMS = {"persistentvolumeclaims", "requests.storage"}
_WRONG_OPERATOR = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating,"
    " ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


class ResourceQuotaStrategy(SpecStatusStrategy):
    """The main endpoint. Scopes are for life."""

    delete_returns_object: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        _round(obj.get("spec") or {}, "hard")
        for field in ("hard", "used"):
            _round(obj.get("status") or {}, field)

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = _amounts("spec.hard", spec.get("hard") or {})
        errors += _scopes(spec)
        return errors + _selector(spec)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        new, before = ((one.get("spec") or {}).get("scopes") for one in (obj, old))
        errors = self.validate(context, obj)
        return errors if set(new or ()) == set(before or ()) else [*errors, invalid("spec.scopes", new, formats.IMMUTABLE)]


def _round(holder: Object, field: str) -> None:
    if holder.get(field):
        holder[field] = {name: quantity.canonical_milli(value) for name, value in holder[field].items()}


def _amounts(path: str, values: Mapping[str, Any]) -> Errors:
    errors: Errors = []
    for name, value in sorted(values.items()):
        here = f"{path}[{name}]"
        errors += resource_name(here, name)
        if "/" not in name and not _is_standard(name):
            errors.append(invalid(here, name, "must be a standard resource for quota"))
        errors += resource_amount(here, name, value)
    return errors


def _is_standard(name: str) -> bool:
    return (name in STANDARD and name != "storage") or is_quota_huge_page(name)


def _fits(scope: str, resource: str) -> bool:
    """Most scopes are about pods, so they bound what pods use only; one is about claims."""
    if scope == "BestEffort":
        return resource == "pods"
    if scope in {"Terminating", "NotTerminating", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity"}:
        return resource in _COMPUTE
    if scope == "VolumeAttributesClass":
        return resource in _CLAIMS
    return True


def _misapplied(scope: str, hard: Sequence[str]) -> int:
    return sum(1 for resource in hard if _is_standard(resource) and not _fits(scope, resource))


def _scopes(spec: Mapping[str, Any]) -> Errors:
    scopes, hard = list(spec.get("scopes") or []), sorted(spec.get("hard") or {})
    errors: Errors = []
    for scope in scopes:
        if scope not in _SCOPES:
            errors.append(invalid("spec.scopes", scopes, "unsupported scope"))
        errors += [invalid("spec.scopes", scopes, "unsupported scope applied to resource")] * _misapplied(scope, hard)
    return errors + [invalid("spec.scopes", scopes, "conflicting scopes") for pair in _PAIRS if set(pair) <= set(scopes)]


def _selector(spec: Mapping[str, Any]) -> Errors:
    selector = spec.get("scopeSelector")
    if selector is None:
        return []
    path, hard = "spec.scopeSelector.matchExpressions", sorted(spec.get("hard") or {})
    shown = go_form.of(selector, "ScopeSelector")
    errors: Errors = []
    names = set()
    for requirement in selector.get("matchExpressions") or ():
        scope = requirement.get("scopeName", "")
        names.add(scope)
        if scope not in _SCOPES:
            errors.append(invalid(f"{path}.scopeName", scope, "unsupported scope"))
        errors += [invalid(path, shown, "unsupported scope applied to resource")] * _misapplied(scope, hard)
        errors += _requirement(path, scope, requirement)
    conflicting = [pair for pair in _PAIRS if set(pair) <= names]
    return errors + [invalid(path, spec.get("scopes") or None, "conflicting scopes") for _ in conflicting]


def _requirement(path: str, scope: str, requirement: Mapping[str, Any]) -> Errors:
    operator, values = requirement.get("operator", ""), requirement.get("values") or []
    errors: Errors = []
    if scope in _EXISTS_ONLY and operator != "Exists":
        errors.append(invalid(f"{path}.operator", operator, _WRONG_OPERATOR))
    if operator in {"In", "NotIn"}:
        if not values:
            why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            errors.append(required(f"{path}.values", why))
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            errors.append(invalid(f"{path}.values", values, why))
    else:
        errors.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
    return errors


def _validate_status(obj: Object, _old: Object) -> Errors:
    status = obj.get("status") or {}
    return _amounts("status.hard", status.get("hard") or {}) + _amounts("status.used", status.get("used") or {})


def resource_quota_status() -> StatusStrategy:
    """The `status` endpoint."""
    return StatusStrategy(ResourceQuotaStrategy(), validate_status=_validate_status)
