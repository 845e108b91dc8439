"""What is asked of the metrics APIs, and what becomes of the answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from setpoint.api.machinery.selectors import parse_labels
from setpoint.api.machinery.status import StatusError
from setpoint.api.types.autoscaling_v2 import HorizontalPodAutoscaler, MetricSpec
from setpoint.api.types.core_v1 import Pod
from setpoint.controllers.horizontal_pod_autoscaler.diff import diff
from setpoint.controllers.horizontal_pod_autoscaler.metrics import MetricsClient
from setpoint.controllers.horizontal_pod_autoscaler.plan import Failure, Memory, Observed, Plan, Reading, Selected, Target
from setpoint.controllers.horizontal_pod_autoscaler.targets import Mapper
from setpoint.kit.clock import VirtualClock, rfc3339

NOW = 1_900_000_000.0
SELECTOR = {"selector": {"matchLabels": {"b": "2", "a": "1"}}}
SPECS: dict[str, Any] = {
    "Resource": {"resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}},
    "ContainerResource": {
        "containerResource": {"name": "cpu", "container": "c", "target": {"type": "Utilization", "averageUtilization": 50}}
    },
    "Pods": {"pods": {"metric": {"name": "qps"}, "target": {"type": "AverageValue", "averageValue": "10"}}},
    "Object": {
        "object": {
            "metric": {"name": "hits"},
            "describedObject": {"apiVersion": "v1", "kind": "Service", "name": "s"},
            "target": {"type": "Value", "value": "10"},
        }
    },
    "External": {"external": {"metric": {"name": "queue", **SELECTOR}, "target": {"type": "AverageValue", "averageValue": "10"}}},
}
PATHS = {
    "Resource": ("/apis/metrics.k8s.io/v1beta1/namespaces/n/pods", {"labelSelector": "app=a"}),
    "ContainerResource": ("/apis/metrics.k8s.io/v1beta1/namespaces/n/pods", {"labelSelector": "app=a"}),
    "Pods": ("/apis/custom.metrics.k8s.io/v1beta2/namespaces/n/pods/*/qps", {"labelSelector": "app=a"}),
    "Object": ("/apis/custom.metrics.k8s.io/v1beta2/namespaces/n/services/s/hits", {}),
    "External": ("/apis/external.metrics.k8s.io/v1beta1/namespaces/n/queue", {"labelSelector": "a=1,b=2"}),
}
STAMP = rfc3339(NOW)
ANSWERS: dict[str, Any] = {
    "Resource": [
        {
            "metadata": {"name": "p", "namespace": "n"},
            "timestamp": STAMP,
            "window": "15.5s",
            "containers": [{"name": "c", "usage": {"cpu": "100m"}}, {"name": "d", "usage": {"cpu": "50000001n"}}],
        }
    ],
    "Pods": [{"describedObject": {"name": "p"}, "timestamp": STAMP, "value": "20"}],
    "Object": [{"value": "30"}],
    "External": [{"value": "30"}, {"value": "500m"}],
}
ANSWERS["ContainerResource"] = ANSWERS["Resource"]


def kind(group: str, plural: str, name: str) -> dict[str, Any]:
    resource = {"resource": plural, "responseKind": {"kind": name}, "scope": "Namespaced", "verbs": ["get"]}
    return {"metadata": {"name": group}, "versions": [{"version": "v1beta2" if group else "v1", "resources": [resource]}]}


class Api:
    """An API server with adapters, or without (`items` None)."""

    def __init__(self, items: Any = None, *, code: int = 404) -> None:
        self.items = items
        self.code = code
        self.asked: tuple[str, Mapping[str, str]] | None = None

    async def discovery(self) -> list[Any]:
        found = [kind("", "services", "Service")]
        return found if self.items is None else [*found, kind("custom.metrics.k8s.io", "pods/qps", "MetricValueList")]

    async def raw(self, _method: str, path: str, *, query: Mapping[str, str]) -> Any:
        self.asked = (path, query)
        if self.items is None:
            raise StatusError(self.code, "Unknown", "404 page not found")
        return {"items": self.items}


def spec_of(name: str) -> MetricSpec:
    return msgspec.convert({"type": name, **SPECS[name]}, MetricSpec)


async def read(api: Any, name: str) -> Reading | Failure:
    return await MetricsClient(api, Mapper(api, VirtualClock())).read(spec_of(name), "n", parse_labels("app=a"))


@pytest.mark.parametrize("name", SPECS)
async def test_what_is_asked(name: str) -> None:
    api = Api(ANSWERS[name])
    reading = await read(api, name)
    assert isinstance(reading, Reading)
    assert api.asked == PATHS[name]
    wanted = {"Resource": 151, "ContainerResource": 100, "Pods": 20000, "Object": 30000, "External": 30500}[name]
    assert (reading.samples["p"].value if reading.samples else reading.amount) == wanted


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "Resource",
            (
                "unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: "
                "the server could not find the requested resource (get pods.metrics.k8s.io)"
            ),
        ),
        (
            "Pods",
            (
                "unable to get metric qps: unable to fetch metrics from custom metrics API: "
                "no custom metrics API (custom.metrics.k8s.io) registered"
            ),
        ),
        (
            "Object",
            (
                "unable to get metric hits: Service on n s/unable to fetch metrics from custom metrics API: "
                "no custom metrics API (custom.metrics.k8s.io) registered"
            ),
        ),
        (
            "External",
            (
                "unable to get external metric n/queue/&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},"
                "MatchExpressions:[]LabelSelectorRequirement{},}: unable to fetch metrics from external metrics API: "
                "the server could not find the requested resource (get queue.external.metrics.k8s.io)"
            ),
        ),
    ],
)
async def test_without_adapters(name: str, message: str) -> None:
    assert await read(Api(), name) == Failure(message)


async def test_other_refusals() -> None:
    silent = await read(Api(code=503), "Resource")
    assert isinstance(silent, Failure)
    assert silent.message.endswith("the server is currently unable to handle the request (get pods.metrics.k8s.io)")
    assert await read(Api([]), "Pods") == Failure("unable to get metric qps: no metrics returned from custom metrics API")
    other = [{"metadata": {"name": "p", "namespace": "n"}, "containers": []}]
    assert await read(Api(other), "ContainerResource") == Failure(
        "unable to get metrics for resource cpu: failed to get container metrics: container c not present in metrics for pod n/p"
    )


def plan(names: list[str], readings: list[Reading | Failure], *, requests: bool = True, **spec: Any) -> Plan:
    hpa = {
        "metadata": {"name": "h", "namespace": "n"},
        "spec": {
            "minReplicas": 1,
            "maxReplicas": 10,
            "metrics": [{"type": name, **SPECS[name]} for name in names],
            **spec,
        },
    }
    container = {"name": "c", "resources": {"requests": {"cpu": "100m"} if requests else {}}}
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": rfc3339(NOW - 900)}
    status = {"phase": "Running", "startTime": rfc3339(NOW - 1000), "conditions": [ready]}
    pod = msgspec.convert({"metadata": {"name": "p"}, "spec": {"containers": [container]}, "status": status}, Pod)
    target = Target("/scale", {}, 1, 1, "app=a")
    selected = Selected(parse_labels("app=a"), (pod,))
    return diff(Observed(msgspec.convert(hpa, HorizontalPodAutoscaler), target, selected, readings, Memory(), NOW))


@pytest.mark.parametrize(
    ("name", "shown", "replicas"),
    [
        ("Resource", "cpu resource utilization (percentage of request)", 4),
        ("ContainerResource", "cpu container resource utilization (percentage of request)", 2),
        ("Pods", "pods metric qps", 2),
        ("Object", "Service metric hits", 3),
        (
            "External",
            (
                "external metric queue(&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},"
                "MatchExpressions:[]LabelSelectorRequirement{},})"
            ),
            4,
        ),
    ],
)
async def test_what_is_made_of_it(name: str, shown: str, replicas: int) -> None:
    reading = await read(Api(ANSWERS[name]), name)
    made = plan([name], [reading])
    assert (made.rescale, made.reason) == (replicas, f"{shown} above target")
    active = next(each for each in made.status.conditions if each.type == "ScalingActive")
    assert active.message == f"the HPA was able to successfully calculate a replica count from {shown}"
    assert made.status.current_metrics[0].type == name


async def test_one_failure_keeps_from_going_down_but_not_up() -> None:
    up = await read(Api(ANSWERS["Pods"]), "Pods")
    made = plan(["Resource", "Pods"], [Failure("no"), up])
    assert made.rescale == 2
    assert [each.type for each in made.status.current_metrics] == ["", "Pods"]
    both = plan(["Resource", "Pods"], [Failure("no"), Failure("neither")])
    assert both.rescale is None
    assert [(each.reason, each.message) for each in both.events] == [
        ("FailedGetResourceMetric", "failed to get cpu utilization: no"),
        ("FailedGetPodsMetric", "neither"),
        (
            "FailedComputeMetricsReplicas",
            (
                "invalid metrics (2 invalid out of 2), first error is: "
                "failed to get cpu resource metric value: failed to get cpu utilization: no"
            ),
        ),
    ]


@pytest.mark.parametrize(
    ("kind", "target", "outer"),
    [
        ("Object", {"type": "Value", "value": "1"}, "failed to get object metric value"),
        (
            "Object",
            {"type": "AverageValue", "averageValue": "1"},
            "failed to get object metric value: failed to get hits object metric",
        ),
        (
            "External",
            {"type": "Value", "value": "1"},
            "failed to get queue external metric value: failed to get external metric queue",
        ),
        (
            "External",
            {"type": "AverageValue", "averageValue": "1"},
            "failed to get queue external metric value: failed to get queue external metric",
        ),
    ],
)
def test_condition_and_event_tell_the_cause_alone(kind: str, target: dict[str, str], outer: str) -> None:
    field = kind.lower()
    metric = {"type": kind, field: {**SPECS[kind][field], "target": target}}
    made = plan([], [Failure("no")], metrics=[metric])
    assert [(each.reason, each.message) for each in made.events] == [
        (f"FailedGet{kind}Metric", "no"),
        ("FailedComputeMetricsReplicas", f"invalid metrics (1 invalid out of 1), first error is: {outer}: no"),
    ]
    assert made.status.conditions[-1].message == "the HPA was unable to compute the replica count: no"


def test_requests_are_missed_only_where_there_are_samples() -> None:
    made = plan(["Resource"], [Reading()], requests=False)
    assert made.events[0].message == (
        "failed to get cpu utilization: did not receive metrics for targeted pods (pods might be unready)"
    )


@pytest.mark.parametrize("name", ["Pods", "Object", "External"])
async def test_a_selector_that_makes_no_sense_is_a_failure_of_its_metric(name: str) -> None:
    field = name.lower()
    metric = {"name": "m", "selector": {"matchExpressions": [{"key": "a", "operator": "Odd"}]}}
    spec = msgspec.convert({"type": name, field: {**SPECS[name][field], "metric": metric}}, MetricSpec)
    api: Any = Api(ANSWERS[name])
    found = await MetricsClient(api, Mapper(api, VirtualClock())).read(spec, "n", parse_labels("app=a"))
    assert found == Failure('"Odd" is not a valid label selector operator')
