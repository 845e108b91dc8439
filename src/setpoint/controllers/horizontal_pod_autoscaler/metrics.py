"""The three metrics APIs, asked through the API server. As `pkg/controller/podautoscaler/metrics/client.go`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery import quantity, selectors
from setpoint.api.machinery.selectors import LabelSelector, SelectorError
from setpoint.api.machinery.status import StatusError
from setpoint.api.types import autoscaling_v2, meta_v1
from setpoint.client.client import Client
from setpoint.client.transport import TransportError
from setpoint.controllers.claims import selector_of
from setpoint.controllers.horizontal_pod_autoscaler.plan import Failure, Reading, Sample
from setpoint.controllers.horizontal_pod_autoscaler.targets import Mapper, UnknownKind
from setpoint.kit.clock import parse_rfc3339

_CUSTOM = "custom.metrics.k8s.io"
_VERSIONS = ("v1beta2", "v1beta1")
_GENERIC = {
    404: "the server could not find the requested resource",
    503: "the server is currently unable to handle the request",
}


class Unfetched(Exception):
    """A metrics API has no answer; the message is Kubernetes'."""


class MetricsClient:
    """One per controller."""

    def __init__(self, client: Client, mapper: Mapper) -> None:
        self._client = client
        self._mapper = mapper

    async def read(self, spec: autoscaling_v2.MetricSpec, namespace: str, selector: LabelSelector) -> Reading | Failure:
        """What is to be known for one metric of the specification."""
        try:
            return await self._read(spec, namespace, selector)
        except (Unfetched, SelectorError) as error:  # nobody checks a metric's selector before
            return Failure(str(error))

    async def _read(self, spec: autoscaling_v2.MetricSpec, namespace: str, selector: LabelSelector) -> Reading:
        if spec.type == "Resource" and spec.resource is not None:
            return await self._resource(spec.resource.name, "", namespace, selector)
        if spec.type == "ContainerResource" and spec.container_resource is not None:
            return await self._resource(spec.container_resource.name, spec.container_resource.container, namespace, selector)
        if spec.type == "Pods" and spec.pods is not None:
            return await self._pods(spec.pods.metric, namespace, selector)
        if spec.type == "Object" and spec.object is not None:
            return await self._object(spec.object, namespace)
        if spec.type == "External" and spec.external is not None:
            return await self._external(spec.external.metric, namespace)
        return Reading()

    async def _resource(self, resource: str, container: str, namespace: str, selector: LabelSelector) -> Reading:
        what = f"unable to get metrics for resource {resource}"
        path = f"/apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods"
        query = _given(labelSelector=str(selector))
        items = await self._items("resource", path, query, "pods.metrics.k8s.io", what)
        if container:
            return Reading(
                {item["metadata"]["name"]: each for item in items for each in _of_container(item, resource, container)}
            )
        found = {item["metadata"]["name"]: _of_pod(item, resource) for item in items}
        return Reading({name: sample for name, sample in found.items() if sample is not None})

    async def _pods(self, metric: autoscaling_v2.MetricIdentifier, namespace: str, selector: LabelSelector) -> Reading:
        what = f"unable to get metric {metric.name}"
        query = _given(labelSelector=str(selector), metricLabelSelector=_text(metric.selector))
        path = f"{await self._custom_root(what)}/namespaces/{namespace}/pods/*/{metric.name}"
        items = await self._items("custom", path, query, f"pods.{_CUSTOM} *", what)
        return Reading({item["describedObject"]["name"]: _sample(item) for item in items})

    async def _object(self, source: autoscaling_v2.ObjectMetricSource, namespace: str) -> Reading:
        described, metric = source.described_object, source.metric
        what = f"unable to get metric {metric.name}: {described.kind} on {namespace} {described.name}/"
        query = _given(metricLabelSelector=_text(metric.selector))
        root = await self._custom_root(what, "")
        try:
            resource = await self._mapper.resource(described.api_version, described.kind)
        except UnknownKind as error:
            raise Unfetched(f"{what}unable to fetch metrics from custom metrics API: {error}") from error
        if described.kind == "Namespace" and "/" not in described.api_version:
            path = f"{root}/namespaces/{namespace}/metrics/{metric.name}"
        else:
            path = f"{root}/namespaces/{namespace}/{resource.group_resource}/{described.name}/{metric.name}"
        shown = f"{resource.plural}.{_CUSTOM} {described.name}"
        items = await self._items("custom", path, query, shown, what, "")
        return Reading(amount=_milli(items[0]["value"]))

    async def _external(self, metric: autoscaling_v2.MetricIdentifier, namespace: str) -> Reading:
        what = f"unable to get external metric {namespace}/{metric.name}/{go_selector(metric.selector)}"
        path = f"/apis/external.metrics.k8s.io/v1beta1/namespaces/{namespace}/{metric.name}"
        query = _given(labelSelector=_text(metric.selector))
        items = await self._items("external", path, query, f"{metric.name}.external.metrics.k8s.io", what)
        return Reading(amount=sum(_milli(item["value"]) for item in items))

    async def _custom_root(self, what: str, colon: str = ": ") -> str:
        served = await self._mapper.versions(_CUSTOM)
        for version in _VERSIONS:
            if version in served:
                return f"/apis/{_CUSTOM}/{version}"
        why = f"no custom metrics API ({_CUSTOM}) registered"
        raise Unfetched(f"{what}{colon}unable to fetch metrics from custom metrics API: {why}")

    async def _items(self, api: str, path: str, query: Mapping[str, str], shown: str, what: str, colon: str = ": ") -> list[Any]:
        try:
            answer = await self._client.raw("GET", path, query=query)
        except (StatusError, TransportError) as error:
            told = _message(error, shown)
            raise Unfetched(f"{what}{colon}unable to fetch metrics from {api} metrics API: {told}") from error
        items: list[Any] = answer.get("items") or []
        if not items:
            raise Unfetched(f"{what}{colon}no metrics returned from {api} metrics API")
        return items


def _message(error: Exception, shown: str) -> str:
    """As client-go: an answer that is no Status is told by its code and by what was asked."""
    if isinstance(error, StatusError) and error.code in _GENERIC and not (error.details or {}).get("kind"):
        return f"{_GENERIC[error.code]} (get {shown})"
    return str(error)


def _milli(text: str) -> int:
    return quantity.parse(str(text)).milli_value()


def _text(selector: meta_v1.LabelSelector | None) -> str:
    return str(selector_of(selector)) if selector is not None else ""


def _given(**query: str) -> dict[str, str]:
    return {name: value for name, value in query.items() if value}


def _taken(item: Mapping[str, Any]) -> float:
    return parse_rfc3339(item["timestamp"]) if item.get("timestamp") else 0.0


def _window(text: str) -> float:
    """Seconds of a Go duration as metrics servers write it (`15s`, `1m0s`, `10.5s`)."""
    seconds, number = 0.0, ""
    units = {"h": 3600.0, "m": 60.0, "s": 1.0}
    for character in text:
        if character in units:
            seconds, number = seconds + float(number or 0) * units[character], ""
        else:
            number += character
    return seconds


def _of_pod(item: Mapping[str, Any], resource: str) -> Sample | None:
    """The sum over a pod's containers, if all of them have the resource."""
    usages = [container["usage"].get(resource) for container in item.get("containers") or ()]
    if not usages or None in usages:
        return None
    return Sample(sum(_milli(usage) for usage in usages), _taken(item), _window(item.get("window") or ""))


def _of_container(item: Mapping[str, Any], resource: str, name: str) -> list[Sample]:
    """The sample of one container, none when it has not the resource. Raises Unfetched when the pod has no such container."""
    meta = item["metadata"]
    for container in item.get("containers") or ():
        if container["name"] == name:
            usage = container["usage"].get(resource)
            return [] if usage is None else [Sample(_milli(usage), _taken(item), _window(item.get("window") or ""))]
    why = f"container {name} not present in metrics for pod {meta.get('namespace', '')}/{meta['name']}"
    raise Unfetched(f"unable to get metrics for resource {resource}: failed to get container metrics: {why}")


def _sample(item: Mapping[str, Any]) -> Sample:
    window = item.get("windowSeconds", item.get("window"))
    return Sample(_milli(item["value"]), _taken(item), 60.0 if window is None else float(window))


def go_selector(selector: meta_v1.LabelSelector | None) -> str:
    """A selector as Go prints it within a text."""
    if selector is None:
        return "nil"
    labels = "".join(f"{key}: {value}," for key, value in sorted((selector.match_labels or {}).items()))
    terms = "".join(
        f"LabelSelectorRequirement{{Key:{each.key},Operator:{each.operator},Values:[{' '.join(each.values)}],}},"
        for each in selector.match_expressions
    )
    wanted = f"MatchLabels:map[string]string{{{labels}}},MatchExpressions:[]LabelSelectorRequirement{{{terms}}},"
    return f"&LabelSelector{{{wanted}}}"


def parse_selector(text: str) -> LabelSelector:
    """The selector of a scale. Raises ValueError or StatusError for one that cannot be read."""
    return selectors.parse_labels(text)
