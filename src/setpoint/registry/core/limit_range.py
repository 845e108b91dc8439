"""LimitRanges.

Source: `pkg/apis/core/validation/validation.go` (ValidateLimitRange), `pkg/apis/core/v1/defaults.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names, quantity
from setpoint.api.machinery.quantity import Quantity
from setpoint.api.machinery.status import FieldError, duplicate, forbidden, invalid, required
from setpoint.registry.fields import Errors, complain
from setpoint.registry.pod.validation.resources import amount, container_resource_name, is_overcommit_allowed, resource_name
from setpoint.registry.strategy import Context, Object, Strategy

_LISTS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_TYPES = ("Pod", "Container", "PersistentVolumeClaim")

Limit = Mapping[str, Any]
Amounts = dict[str, Quantity]


class LimitRangeStrategy(Strategy):
    """What containers, pods and claims of a namespace may ask for, and what they get if they do not ask."""

    allow_create_on_update: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True
    compares_metadata_on_update: ClassVar[bool] = False

    def default(self, obj: Object) -> None:
        for limit in (obj.get("spec") or {}).get("limits") or ():
            for field in _LISTS:
                if limit.get(field):
                    limit[field] = {name: quantity.canonical_milli(value) for name, value in limit[field].items()}
            if limit.get("type") == "Container":
                _default_container(limit)

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        errors: Errors = []
        seen: set[str] = set()
        for i, limit in enumerate((obj.get("spec") or {}).get("limits") or ()):
            path, kind = f"spec.limits[{i}]", limit.get("type", "")
            errors += _type(f"{path}.type", kind)
            if kind in seen:
                errors.append(duplicate(f"{path}.type", kind))
            seen.add(kind)
            errors += _limit(path, limit)
        return errors


def _default_container(limit: Object) -> None:
    """A default limit is the maximum, a default request the limit, else the minimum."""
    default = {**(limit.get("max") or {}), **(limit.get("default") or {})}
    request = {**(limit.get("min") or {}), **default, **(limit.get("defaultRequest") or {})}
    for field, value in (("default", default), ("defaultRequest", request)):
        if value:
            limit[field] = value


def _type(path: str, kind: str) -> Errors:
    errors = complain(path, kind, names.qualified_name(kind))
    if not errors and "/" not in kind and kind not in _TYPES:
        errors.append(invalid(path, kind, "must be a standard limit type or fully qualified"))
    return errors


def _limit(path: str, limit: Limit) -> Errors:
    kind = limit.get("type", "")
    amounts: dict[str, Amounts] = {}
    errors: Errors = []
    for field in _LISTS:
        if kind == "Pod" and field in {"default", "defaultRequest"}:
            if limit.get(field):
                errors.append(forbidden(f"{path}.{field}", "may not be specified when `type` is 'Pod'"))
            amounts[field] = {}
            continue
        if field == "maxLimitRequestRatio":
            errors += _claim(path, kind, limit)
        errors += _names(f"{path}.{field}", kind, limit.get(field) or {})
        amounts[field] = {name: amount(value) for name, value in (limit.get(field) or {}).items()}
    for name in sorted(set().union(*amounts.values())):
        errors += _compare(path, name, {field: values.get(name) for field, values in amounts.items()})
    return errors


def _claim(path: str, kind: str, limit: Limit) -> Errors:
    if kind != "PersistentVolumeClaim" or "storage" in {**(limit.get("min") or {}), **(limit.get("max") or {})}:
        return []
    return [required(f"{path}.limits", "either minimum or maximum storage value is required, but neither was provided")]


def _names(path: str, kind: str, values: Mapping[str, Any]) -> Errors:
    check = container_resource_name if kind in {"Pod", "Container"} else resource_name
    return [error for name in sorted(values) for error in check(f"{path}[{name}]", name)]


def _compare(path: str, name: str, values: Mapping[str, Quantity | None]) -> Errors:
    low, high, default, request, ratio = (
        values[field] for field in ("min", "max", "default", "defaultRequest", "maxLimitRequestRatio")
    )
    errors: Errors = []

    def complain_if(broken: bool, field: str, shown: Quantity | None, why: str) -> None:
        if broken:
            errors.append(invalid(f"{path}.{field}[{name}]", str(shown), why))

    complain_if(_above(low, high), "min", low, f"min value {low} is greater than max value {high}")
    complain_if(
        _above(low, request), "defaultRequest", request, f"min value {low} is greater than default request value {request}"
    )
    complain_if(
        _above(request, high), "defaultRequest", request, f"default request value {request} is greater than max value {high}"
    )
    why = f"default request value {request} is greater than default limit value {default}"
    complain_if(_above(request, default), "defaultRequest", request, why)
    complain_if(_above(low, default), "default", low, f"min value {low} is greater than default value {default}")
    complain_if(_above(default, high), "default", high, f"default value {default} is greater than max value {high}")
    complain_if(ratio is not None and ratio < Quantity.of(1), "maxLimitRequestRatio", ratio, f"ratio {ratio} is less than 1")
    if ratio is not None and low is not None and high is not None and low:
        bound = high.nanos / low.nanos
        complain_if(ratio.as_float() > bound, "maxLimitRequestRatio", ratio, f"ratio {ratio} is greater than max/min = {bound:f}")
    if not is_overcommit_allowed(name) and default is not None and request is not None:
        why = f"default value {default} must equal to defaultRequest value {request} in {name}"
        complain_if(default != request, "defaultRequest", request, why)
    return errors


def _above(one: Quantity | None, other: Quantity | None) -> bool:
    return one is not None and other is not None and one > other
