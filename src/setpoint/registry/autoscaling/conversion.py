"""HorizontalPodAutoscalers between autoscaling/v2, which is stored, and v1, which keeps in annotations what it has no fields for.

Source: `pkg/apis/autoscaling/v1/conversion.go`, `pkg/apis/autoscaling/annotations.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from setpoint.api.machinery import quantity
from setpoint.registry.autoscaling import annotated
from setpoint.registry.strategy import Object

V1, V2 = "autoscaling/v1", "autoscaling/v2"
_METRICS = "autoscaling.alpha.kubernetes.io/metrics"
_CURRENT = "autoscaling.alpha.kubernetes.io/current-metrics"
_CONDITIONS = "autoscaling.alpha.kubernetes.io/conditions"
_BEHAVIOR = "autoscaling.alpha.kubernetes.io/behavior"
_KEYS = (_METRICS, _CURRENT, _CONDITIONS, _BEHAVIOR)
_SHARED_SPEC = ("scaleTargetRef", "minReplicas", "maxReplicas")
_SHARED_STATUS = ("observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas")

Metric = Mapping[str, Any]


def convert_autoscaler(obj: Object, version: str) -> Object:
    """The autoscaler in the form of `version`; annotations that the conversion uses come and go."""
    return _to_v1(obj) if version == V1 else _to_v2(obj)


def _is_cpu(metric: Metric, side: str) -> bool:
    """The one metric that v1 has a field for."""
    return _is_of_cpu(metric) and (metric["resource"].get(side) or {}).get("averageUtilization") is not None


def _is_of_cpu(metric: Metric) -> bool:
    return metric.get("type") == "Resource" and (metric.get("resource") or {}).get("name") == "cpu"


def _pick(source: Mapping[str, Any], names: tuple[str, ...]) -> Object:
    return {name: source[name] for name in names if source.get(name) is not None}


# --- to v1 ---


def _to_v1(obj: Object) -> Object:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    metrics, current = spec.get("metrics") or [], status.get("currentMetrics") or []
    out_spec = _pick(spec, _SHARED_SPEC)
    out_status = {"currentReplicas": 0, "desiredReplicas": 0, **_pick(status, _SHARED_STATUS)}
    first = next((metric for metric in metrics if _is_of_cpu(metric)), None)
    if first is not None and _is_cpu(first, "target"):
        out_spec["targetCPUUtilizationPercentage"] = first["resource"]["target"]["averageUtilization"]
    for metric in current:
        if _is_cpu(metric, "current"):
            out_status["currentCPUUtilizationPercentage"] = metric["resource"]["current"]["averageUtilization"]
    notes = {
        _METRICS: [_metric_v1(metric, "target") for metric in metrics if not _is_cpu(metric, "target")],
        _CURRENT: [_metric_v1(metric, "current") for metric in current],
        _CONDITIONS: [_condition_v1(condition) for condition in status.get("conditions") or ()],
        _BEHAVIOR: _behavior_v1(spec["behavior"]) if spec.get("behavior") is not None else None,
    }
    annotations = {key: orjson.dumps(value).decode() for key, value in notes.items() if value}
    metadata = _annotated(obj["metadata"], annotations)
    return {**obj, "apiVersion": V1, "metadata": metadata, "spec": out_spec, "status": out_status}


def _annotated(metadata: Mapping[str, Any], added: Mapping[str, str]) -> Object:
    kept = {key: value for key, value in (metadata.get("annotations") or {}).items() if key not in _KEYS}
    out = {name: value for name, value in metadata.items() if name != "annotations"}
    if kept or added:
        out["annotations"] = {**kept, **added}
    return out


def _condition_v1(condition: Mapping[str, Any]) -> Object:
    out = {name: condition.get(name) for name in ("type", "status", "lastTransitionTime")}
    return {**out, **_pick(condition, ("reason", "message"))}


def _behavior_v1(behavior: Mapping[str, Any]) -> Object:
    """Kubernetes writes its internal struct here, with Go's names."""
    return {go: _rules_v1(behavior.get(name)) for go, name in (("ScaleUp", "scaleUp"), ("ScaleDown", "scaleDown"))}


def _rules_v1(rules: Mapping[str, Any] | None) -> Object | None:
    if rules is None:
        return None
    policies = [
        {"Type": policy.get("type", ""), "Value": policy.get("value", 0), "PeriodSeconds": policy.get("periodSeconds", 0)}
        for policy in rules.get("policies") or ()
    ]
    return {
        "StabilizationWindowSeconds": rules.get("stabilizationWindowSeconds"),
        "SelectPolicy": rules.get("selectPolicy"),
        "Policies": policies,
        "Tolerance": rules.get("tolerance"),
    }


def _metric_v1(metric: Metric, side: str) -> Object:
    """One metric, wanted (`target`) or seen (`current`)."""
    kind = metric.get("type", "")
    name = kind[:1].lower() + kind[1:]
    source = metric.get(name)
    return {"type": kind, name: _TO_V1[name](source, side)} if source is not None and name in _TO_V1 else {"type": kind}


def _values(source: Mapping[str, Any], side: str, **names: str) -> Object:
    values = source.get(side) or {}
    return {f"{side}{new}": values[old] for old, new in names.items() if values.get(old) is not None}


def _object_v1(source: Mapping[str, Any], side: str) -> Object:
    metric, values, described = source.get("metric") or {}, source.get(side) or {}, source.get("describedObject") or {}
    target = {"kind": described.get("kind", ""), "name": described.get("name", ""), **_pick(described, ("apiVersion",))}
    out = {"target": target, "metricName": metric.get("name", ""), f"{side}Value": values.get("value") or "0"}
    return {**out, **_selector(metric, "selector"), **_pick(values, ("averageValue",))}


def _selector(metric: Mapping[str, Any], name: str) -> Object:
    """The selector of a metric, in the order in which Go writes one."""
    if metric.get("selector") is None:
        return {}
    selector = _pick(metric["selector"], ("matchLabels", "matchExpressions"))
    if selector.get("matchLabels"):
        selector["matchLabels"] = dict(sorted(selector["matchLabels"].items()))
    return {name: selector}


def _pods_v1(source: Mapping[str, Any], side: str) -> Object:
    metric, values = source.get("metric") or {}, source.get(side) or {}
    out = {"metricName": metric.get("name", ""), f"{side}AverageValue": values.get("averageValue") or "0"}
    return {**out, **_selector(metric, "selector")}


def _resource_v1(source: Mapping[str, Any], side: str) -> Object:
    values = _values(source, side, averageUtilization="AverageUtilization", averageValue="AverageValue")
    if side == "current":
        values.setdefault("currentAverageValue", "0")
    return {"name": source.get("name", ""), **values, **_pick(source, ("container",))}


def _external_v1(source: Mapping[str, Any], side: str) -> Object:
    metric = source.get("metric") or {}
    values = {"currentValue": "0"} if side == "current" else {}
    values |= _values(source, side, value="Value", averageValue="AverageValue")
    return {"metricName": metric.get("name", ""), **_selector(metric, "metricSelector"), **values}


_TO_V1: dict[str, Callable[[Mapping[str, Any], str], Object]] = {
    "object": _object_v1,
    "pods": _pods_v1,
    "resource": _resource_v1,
    "containerResource": _resource_v1,
    "external": _external_v1,
}


# --- to v2 ---


def _to_v2(obj: Object) -> Object:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    annotations = obj["metadata"].get("annotations") or {}
    out_spec = _pick(spec, _SHARED_SPEC)
    metrics = _noted_metrics(annotations, _METRICS, "target")
    percent = spec.get("targetCPUUtilizationPercentage")
    if percent is not None:
        target = {"type": "Utilization", "averageUtilization": percent}
        metrics.append({"type": "Resource", "resource": {"name": "cpu", "target": target}})
    if metrics:
        out_spec["metrics"] = metrics
    if behavior := _noted_behavior(annotations):
        out_spec["behavior"] = behavior
    current = _noted_metrics(annotations, _CURRENT, "current") or _current_cpu(status)
    out_status = {"desiredReplicas": 0, "currentMetrics": current or None, **_pick(status, _SHARED_STATUS)}
    if not out_status.get("currentReplicas"):
        out_status.pop("currentReplicas", None)
    if conditions := annotated.read(annotations, _CONDITIONS, annotated.CONDITIONS):
        out_status["conditions"] = conditions
    metadata = _annotated(obj["metadata"], {})
    return {**obj, "apiVersion": V2, "metadata": metadata, "spec": out_spec, "status": out_status}


def _current_cpu(status: Mapping[str, Any]) -> list[Object]:
    """What v1 says of it in a field; where an annotation has more, that alone counts."""
    percent = status.get("currentCPUUtilizationPercentage")
    if percent is None:
        return []
    return [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": percent}}}]


def _noted_metrics(annotations: Mapping[str, str], key: str, side: str) -> list[Object]:
    try:
        return [_metric_v2(metric, side) for metric in annotated.read(annotations, key, annotated.METRICS) or ()]
    except quantity.QuantityError:
        return []


def _noted_behavior(annotations: Mapping[str, str]) -> Object:
    behavior = annotated.read(annotations, _BEHAVIOR, annotated.Behavior) or {}
    given = {name: behavior.get(name.lower()) for name in ("scaleUp", "scaleDown")}
    if not all(annotated.is_quantity((rules or {}).get("tolerance")) for rules in given.values()):
        return {}
    return {name: _rules_v2(rules) for name, rules in given.items() if rules is not None}


def _rules_v2(rules: Mapping[str, Any]) -> Object:
    names = ("stabilizationWindowSeconds", "selectPolicy", "tolerance")
    out = {name: rules[name.lower()] for name in names if rules.get(name.lower()) is not None}
    if rules.get("policies") is not None:
        out["policies"] = [
            {"type": one.get("type") or "", "value": one.get("value") or 0, "periodSeconds": one.get("periodseconds") or 0}
            for one in rules["policies"]
        ]
    return out


def _metric_v2(metric: Metric, side: str) -> Object:
    kind = metric.get("type") or ""
    name = kind[:1].lower() + kind[1:]
    source = metric.get(name)
    return {"type": kind, name: _TO_V2[name](source, side)} if source is not None and name in _TO_V2 else {"type": kind}


def _values_v2(source: Mapping[str, Any], side: str, kind: str, **names: str) -> Object:
    """What is seen has just values, a target says (`kind`) which of them counts."""
    values = {new: source[old] for new, old in names.items() if source.get(old) is not None}
    values = {new: value if new == "averageUtilization" else quantity.canonical(value) for new, value in values.items()}
    return values if side == "current" else {"type": kind, **values}


def _object_v2(source: Mapping[str, Any], side: str) -> Object:
    """The value is there even where an average counts."""
    kind = "Value" if source.get("averageValue") is None else "AverageValue"
    values = _values_v2({f"{side}Value": "0", **source}, side, kind, value=f"{side}Value", averageValue="averageValue")
    metric = {"name": source.get("metricName") or "", **_pick(source, ("selector",))}
    return {"describedObject": source.get("target") or {}, side: values, "metric": metric}


def _pods_v2(source: Mapping[str, Any], side: str) -> Object:
    field = f"{side}AverageValue"
    values = _values_v2({field: "0", **source}, side, "AverageValue", averageValue=field)
    metric = {"name": source.get("metricName") or "", **_pick(source, ("selector",))}
    return {"metric": metric, side: values}


def _resource_v2(source: Mapping[str, Any], side: str) -> Object:
    percent, average = f"{side}AverageUtilization", f"{side}AverageValue"
    kind = "AverageValue" if source.get(percent) is None else "Utilization"
    given = {average: "0", **source} if side == "current" else source
    values = _values_v2(given, side, kind, averageUtilization=percent, averageValue=average)
    return {"name": source.get("name") or "", side: values, **_pick(source, ("container",))}


def _external_v2(source: Mapping[str, Any], side: str) -> Object:
    kind = "AverageValue" if source.get(f"{side}Value") is None else "Value"
    given = {"currentValue": "0", **source} if side == "current" else source
    values = _values_v2(given, side, kind, value=f"{side}Value", averageValue=f"{side}AverageValue")
    metric: Object = {"name": source.get("metricName") or ""}
    if source.get("metricSelector") is not None:
        metric["selector"] = source["metricSelector"]
    return {"metric": metric, side: values}


_TO_V2: dict[str, Callable[[Mapping[str, Any], str], Object]] = {
    "object": _object_v2,
    "pods": _pods_v2,
    "resource": _resource_v2,
    "containerResource": _resource_v2,
    "external": _external_v2,
}
