"""Validation of the metrics that an autoscaler looks at.

Source: `pkg/apis/autoscaling/validation`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import forbidden, invalid, not_supported, required
from setpoint.registry.fields import Errors, complain, dns_label
from setpoint.registry.pod.validation.resources import amount, container_resource_name

Spec = Mapping[str, Any]

_TYPES = ("ContainerResource", "External", "Object", "Pods", "Resource")
_TARGETS = ("Utilization", "Value", "AverageValue")


def validate_metrics(path: str, metrics: Sequence[Spec], min_replicas: int | None) -> Errors:
    errors: Errors = []
    for i, metric in enumerate(metrics):
        errors += _metric(f"{path}[{i}]", metric)
    if min_replicas == 0 and not any(metric.get("type") in {"Object", "External"} for metric in metrics):
        why = "must specify at least one Object or External metric to support scaling to zero replicas"
        errors.append(forbidden(path, why))
    return errors


def _metric(path: str, metric: Spec) -> Errors:
    kind = metric.get("type", "")
    errors: Errors = [] if kind else [required(f"{path}.type", "must specify a metric source type")]
    if kind not in _TYPES:
        # said twice since 1.36: by the declared validation and by the written one
        errors += [not_supported(f"{path}.type", kind, _TYPES)] * 2
    present = [name for name in _SOURCES if metric.get(name) is not None]
    if present:
        errors += _SOURCES[present[0]](f"{path}.{present[0]}", metric[present[0]])
    expected = kind[:1].lower() + kind[1:]
    if kind in _TYPES and expected not in present:
        errors.append(required(f"{path}.{expected}", "must populate information for the given metric source"))
    if len(present) != 1:
        why = "must populate the given metric source only"
        errors += [forbidden(f"{path}.{name}", why) for name in present if name != expected]
    return errors


def validate_reference(path: str, reference: Spec) -> Errors:
    """Kind and name of another object."""
    errors: Errors = []
    for field in ("kind", "name"):
        value = reference.get(field, "")
        errors += complain(f"{path}.{field}", value, names.path_segment(value)) if value else [required(f"{path}.{field}")]
    return errors


def validate_version(path: str, version: str, *, core: bool) -> Errors:
    """The apiVersion of another object, which must name a group unless that may be the core one."""
    if version.count("/") > 1:
        return [invalid(path, version, f"unexpected GroupVersion string: {version}")]
    group = version.rpartition("/")[0]
    return [] if group or core else [invalid(path, version, "apiVersion must specify API group")]


def _identifier(path: str, metric: Spec) -> Errors:
    name = metric.get("name", "")
    if not name:
        return [required(f"{path}.name", "must specify a metric name")]
    return complain(f"{path}.name", name, names.path_segment(name))


def _target(path: str, target: Spec) -> Errors:
    kind = target.get("type", "")
    errors: Errors = []
    if not kind:
        errors.append(required(f"{path}.type", "must specify a metric target type"))
    if kind not in _TARGETS:
        errors.append(invalid(f"{path}.type", kind, "must be either Utilization, Value, or AverageValue"))
    for field in ("value", "averageValue"):
        value = target.get(field)
        if value is not None and amount(value).nanos <= 0:
            errors.append(invalid(f"{path}.{field}", str(amount(value)), "must be positive"))
    percent = target.get("averageUtilization")
    if percent is not None and percent < 1:
        errors.append(invalid(f"{path}.averageUtilization", percent, "must be greater than 0"))
    return errors


def _given(target: Spec, *fields: str) -> list[str]:
    return [field for field in fields if target.get(field) is not None]


def _object(path: str, source: Spec) -> Errors:
    target, described = source.get("target") or {}, source.get("describedObject") or {}
    errors = validate_reference(f"{path}.describedObject", described)
    errors += validate_version(f"{path}.describedObject.apiVersion", described.get("apiVersion", ""), core=True)
    errors += _identifier(f"{path}.metric", source.get("metric") or {}) + _target(f"{path}.target", target)
    if not _given(target, "value", "averageValue"):
        why = "must set either a target value or averageValue"
        errors.append(required(f"{path}.target.averageValue", why))
    return errors


def _external(path: str, source: Spec) -> Errors:
    target = source.get("target") or {}
    errors = _identifier(f"{path}.metric", source.get("metric") or {}) + _target(f"{path}.target", target)
    given = _given(target, "value", "averageValue")
    if not given:
        why = "must set either a target value for metric or a per-pod target"
        errors.append(required(f"{path}.target.averageValue", why))
    if len(given) == 2:
        why = "may not set both a target value for metric and a per-pod target"
        errors.append(forbidden(f"{path}.target.value", why))
    return errors


def _pods(path: str, source: Spec) -> Errors:
    target = source.get("target") or {}
    errors = _identifier(f"{path}.metric", source.get("metric") or {}) + _target(f"{path}.target", target)
    if not _given(target, "averageValue"):
        errors.append(required(f"{path}.target.averageValue", "must specify a positive target averageValue"))
    return errors


def _resource(path: str, source: Spec) -> Errors:
    errors: Errors = [] if source.get("name") else [required(f"{path}.name", "must specify a resource name")]
    return errors + _resource_target(f"{path}.target", source.get("target") or {})


def _container_resource(path: str, source: Spec) -> Errors:
    name, container = source.get("name", ""), source.get("container", "")
    errors = container_resource_name(f"{path}.name", name) if name else [required(f"{path}.name", "must specify a resource name")]
    errors += (
        dns_label(f"{path}.container", container) if container else [required(f"{path}.container", "must specify a container")]
    )
    return errors + _resource_target(f"{path}.target", source.get("target") or {})


def _resource_target(path: str, target: Spec) -> Errors:
    errors = _target(path, target)
    given = _given(target, "averageUtilization", "averageValue")
    if not given:
        why = "must set either a target raw value or a target utilization"
        errors.append(required(f"{path}.averageUtilization", why))
    if len(given) == 2:
        why = "may not set both a target raw value and a target utilization"
        errors.append(forbidden(f"{path}.averageValue", why))
    return errors


_SOURCES: dict[str, Callable[[str, Spec], Errors]] = {
    "object": _object,
    "external": _external,
    "pods": _pods,
    "resource": _resource,
    "containerResource": _container_resource,
}
