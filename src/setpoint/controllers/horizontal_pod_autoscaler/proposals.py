"""One metric of the specification: what it proposes, and what the status says of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from setpoint.api.machinery import quantity
from setpoint.api.machinery.quantity import Quantity
from setpoint.api.types import core_v1
from setpoint.api.types.autoscaling_v2 import (
    ContainerResourceMetricStatus,
    ExternalMetricSource,
    ExternalMetricStatus,
    HorizontalPodAutoscalerBehavior,
    MetricSpec,
    MetricStatus,
    MetricTarget,
    MetricValueStatus,
    ObjectMetricSource,
    ObjectMetricStatus,
    PodsMetricSource,
    PodsMetricStatus,
    ResourceMetricStatus,
)
from setpoint.controllers.horizontal_pod_autoscaler import usage
from setpoint.controllers.horizontal_pod_autoscaler.metrics import go_selector
from setpoint.controllers.horizontal_pod_autoscaler.plan import Failure, Reading, Target
from setpoint.controllers.horizontal_pod_autoscaler.usage import Tolerance, Uncountable, Used


class Proposal(Struct, frozen=True):
    """Replicas, the metric's name for texts, and its status."""

    replicas: int
    name: str
    status: MetricStatus


class Useless(Exception):
    """A metric that proposes nothing. `reason` is the condition's; `outer` stands before the text in a summary alone."""

    def __init__(self, reason: str, outer: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.outer = outer


class Given(Struct, frozen=True):
    """What proposals are made from, besides the metric itself."""

    target: Target
    pods: Sequence[core_v1.Pod]
    tolerance: Tolerance
    now: float


def tolerance(behavior: HorizontalPodAutoscalerBehavior | None) -> Tolerance:
    """A tenth, unless the behaviour says otherwise."""

    def own(rules: object) -> float:
        text = getattr(rules, "tolerance", None)
        return quantity.parse(text).as_float() if text is not None else 0.1

    return Tolerance(own(behavior.scale_down), own(behavior.scale_up)) if behavior is not None else Tolerance()


def propose(spec: MetricSpec, reading: Reading | Failure, given: Given) -> Proposal:
    """Raises Useless."""
    if spec.type == "Resource" and spec.resource is not None:
        return _resource(spec, reading, given)
    if spec.type == "ContainerResource" and spec.container_resource is not None:
        return _container(spec, reading, given)
    if spec.type == "Pods" and spec.pods is not None:
        return _pods(spec.pods, reading, given)
    if spec.type == "Object" and spec.object is not None:
        return _object(spec.object, reading, given)
    if spec.type == "External" and spec.external is not None:
        return _external(spec.external, reading, given)
    raise Useless("InvalidMetricSourceType", "", f'unknown metric source type "{spec.type}"')


def _read(reading: Reading | Failure) -> Reading:
    if isinstance(reading, Failure):
        raise Uncountable(reading.message)
    return reading


def _resource(spec: MetricSpec, reading: Reading | Failure, given: Given) -> Proposal:
    source = spec.resource
    assert source is not None  # noqa: S101  by the caller
    try:
        used = _of_resource(source.target, source.name, "", reading, given)
    except Uncountable as error:
        outer = f"failed to get {source.name} resource metric value"
        raise Useless("FailedGetResourceMetric", outer, str(error)) from error
    status = MetricStatus(type="Resource", resource=ResourceMetricStatus(name=source.name, current=_current(used)))
    return Proposal(used.replicas, _resource_name(f"{source.name} resource", used), status)


def _container(spec: MetricSpec, reading: Reading | Failure, given: Given) -> Proposal:
    source = spec.container_resource
    assert source is not None  # noqa: S101  by the caller
    try:
        used = _of_resource(source.target, source.name, source.container, reading, given)
    except Uncountable as error:
        outer = f"failed to get {source.container} container metric value"
        raise Useless("FailedGetContainerResourceMetric", outer, str(error)) from error
    current = ContainerResourceMetricStatus(name=source.name, container=source.container, current=_current(used))
    what = f"{source.name} resource" if used.percent is None else f"{source.name} container resource"
    return Proposal(used.replicas, _resource_name(what, used), MetricStatus(type=spec.type, container_resource=current))


def _resource_name(what: str, used: Used) -> str:
    return what + (" utilization (percentage of request)" if used.percent is not None else "")


def _current(used: Used) -> MetricValueStatus:
    return MetricValueStatus(average_utilization=used.percent, average_value=str(Quantity.of_milli(used.average)))


def _of_resource(target: MetricTarget, name: str, container: str, reading: Reading | Failure, given: Given) -> Used:
    if target.average_value is None and target.average_utilization is None:
        raise Uncountable(
            "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set"
        )
    kind = "usage" if target.average_value is not None else "utilization"
    try:
        samples = _read(reading).samples
        groups = usage.group(given.pods, samples, name, given.now)
        if target.average_value is not None:
            wanted = quantity.parse(target.average_value).milli_value()
            return usage.of_average(given.target.replicas, wanted, samples, given.pods, groups, given.tolerance)
        usage.counted_at_first(samples, groups, given.pods)  # what lacks samples is not asked for its requests
        requested = usage.requests(given.pods, container, name)
        percent = target.average_utilization or 0
        return usage.of_utilization(given.target.replicas, percent, samples, given.pods, groups, requested, given.tolerance)
    except Uncountable as error:
        raise Uncountable(f"failed to get {name} {kind}: {error}") from error


def _pods(source: PodsMetricSource, reading: Reading | Failure, given: Given) -> Proposal:
    try:
        samples = _read(reading).samples
        groups = usage.group(given.pods, samples, "", given.now)
        wanted = _milli(source.target.average_value)
        used = usage.of_average(given.target.replicas, wanted, samples, given.pods, groups, given.tolerance)
    except Uncountable as error:
        raise Useless("FailedGetPodsMetric", "failed to get pods metric value", str(error)) from error
    current = PodsMetricStatus(metric=source.metric, current=_current(used))
    return Proposal(used.replicas, f"pods metric {source.metric.name}", MetricStatus(type="Pods", pods=current))


def _object(source: ObjectMetricSource, reading: Reading | Failure, given: Given) -> Proposal:
    name, described, target = source.metric.name, source.described_object, source.target
    shared = target.type == "AverageValue" and target.average_value is not None
    whole = target.type == "Value" and target.value is not None
    try:
        used = _of_amount(target, reading, given, "object", shared=shared, whole=whole)
    except Uncountable as error:
        outer = "failed to get object metric value" + (f": failed to get {name} object metric" if shared else "")
        raise Useless("FailedGetObjectMetric", outer, str(error)) from error
    if shared:
        metric, shown = ObjectMetricStatus(metric=source.metric, current=_current(used)), _external_name(source)
    else:
        metric = ObjectMetricStatus(metric=source.metric, described_object=described, current=_value(used))
        shown = f"{described.kind} metric {name}"
    return Proposal(used.replicas, shown, MetricStatus(type="Object", object=metric))


def _external(source: ExternalMetricSource, reading: Reading | Failure, given: Given) -> Proposal:
    name, target = source.metric.name, source.target
    shared, whole = target.average_value is not None, target.value is not None
    try:
        used = _of_amount(target, reading, given, "external", shared=shared, whole=whole)
    except Uncountable as error:
        inner = (
            f": failed to get {name} external metric" if shared else f": failed to get external metric {name}" if whole else ""
        )
        raise Useless("FailedGetExternalMetric", f"failed to get {name} external metric value{inner}", str(error)) from error
    current = ExternalMetricStatus(metric=source.metric, current=_current(used) if shared else _value(used))
    return Proposal(used.replicas, _external_name(source), MetricStatus(type="External", external=current))


def _external_name(source: ExternalMetricSource | ObjectMetricSource) -> str:
    return f"external metric {source.metric.name}({go_selector(source.metric.selector)})"


def _of_amount(target: MetricTarget, reading: Reading | Failure, given: Given, kind: str, *, shared: bool, whole: bool) -> Used:
    """For a metric of no pod, shared among the replicas or whole."""
    if shared:
        return usage.of_share(given.target.current, _milli(target.average_value), _read(reading).amount, given.tolerance)
    if whole:
        return usage.of_value(given.target.replicas, _milli(target.value), _read(reading).amount, given.pods, given.tolerance)
    raise Uncountable(f"invalid {kind} metric source: neither a value target nor an average value target was set")


def _value(used: Used) -> MetricValueStatus:
    return MetricValueStatus(value=str(Quantity.of_milli(used.average)))


def _milli(text: str | None) -> int:
    return quantity.parse(text or "0").milli_value()
