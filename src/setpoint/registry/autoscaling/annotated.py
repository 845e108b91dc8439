"""The shapes of what autoscaling/v1 keeps in annotations, as far as they must fit to be read at all.

What does not fit is as good as absent: Kubernetes reads these annotations as JSON of its own types, and goes on without them
where that fails. Source: `staging/src/k8s.io/api/autoscaling/v1/types.go`, `pkg/apis/autoscaling/v1/conversion.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

import msgspec
import orjson

from setpoint.api.machinery import quantity

Int32 = Annotated[int, msgspec.Meta(ge=-(1 << 31), lt=1 << 31)]
Quantity = str | int | float


class _Reference(TypedDict, total=False):
    kind: str | None
    name: str | None
    apiVersion: str | None


class _Requirement(TypedDict, total=False):
    key: str | None
    operator: str | None
    values: list[str] | None


class _Selector(TypedDict, total=False):
    matchLabels: dict[str, str] | None
    matchExpressions: list[_Requirement] | None


class _Source(TypedDict, total=False):
    """Of any metric, wanted or seen: no name means two things."""

    target: _Reference | None
    name: str | None
    container: str | None
    metricName: str | None
    selector: _Selector | None
    metricSelector: _Selector | None
    targetAverageUtilization: Int32 | None
    currentAverageUtilization: Int32 | None
    targetValue: Quantity | None
    targetAverageValue: Quantity | None
    currentValue: Quantity | None
    currentAverageValue: Quantity | None
    averageValue: Quantity | None


class Metric(TypedDict, total=False):
    """A metric, wanted or seen."""

    type: str | None
    object: _Source | None
    pods: _Source | None
    resource: _Source | None
    containerResource: _Source | None
    external: _Source | None


class Condition(TypedDict, total=False):
    """What the controller says of the autoscaler."""

    type: str | None
    status: str | None
    lastTransitionTime: str | None
    reason: str | None
    message: str | None


class _Policy(TypedDict, total=False):
    type: str | None
    value: Int32 | None
    periodseconds: Int32 | None


class _Rules(TypedDict, total=False):
    stabilizationwindowseconds: Int32 | None
    selectpolicy: str | None
    policies: list[_Policy] | None
    tolerance: Quantity | None


class Behavior(TypedDict, total=False):
    """Go writes its own names here, and reads them whatever their case."""

    scaleup: _Rules | None
    scaledown: _Rules | None


METRICS, CONDITIONS = list[Metric], list[Condition]


def read(annotations: Mapping[str, str], key: str, shape: Any) -> Any:
    """What the annotation holds of that shape, keys that it does not know left out; None if it does not fit.

    The names of a behavior are in lower case.
    """
    try:
        value = orjson.loads(annotations[key])
        return msgspec.convert(_folded(value) if shape is Behavior else value, shape)
    except (KeyError, orjson.JSONDecodeError, msgspec.ValidationError):
        return None


def _folded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name.lower(): _folded(item) for name, item in value.items()}
    return [_folded(item) for item in value] if isinstance(value, list) else value


def is_quantity(value: Quantity | None) -> bool:
    try:
        return value is None or bool(quantity.canonical(value))
    except quantity.QuantityError:
        return False
