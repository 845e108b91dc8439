"""Horizontal pod autoscalers in their two versions."""

from __future__ import annotations

import json

import pytest
from tests.registry.builders import Json, complaints, created

from setpoint.registry.autoscaling.conversion import convert_autoscaler
from setpoint.registry.autoscaling.horizontal_pod_autoscaler import HorizontalPodAutoscalerStrategy

STRATEGY = HorizontalPodAutoscalerStrategy()
_CURRENT = "autoscaling.alpha.kubernetes.io/current-metrics"
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}


def autoscaler(spec: Json | None = None, /) -> Json:
    base = {"scaleTargetRef": TARGET, "maxReplicas": 3}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h"},
        "spec": base | (spec or {}),
    }


def resource(name: str, utilization: int) -> Json:
    target = {"type": "Utilization", "averageUtilization": utilization}
    return {"type": "Resource", "resource": {"name": name, "target": target}}


def test_defaults() -> None:
    spec = created(STRATEGY, autoscaler())["spec"]
    assert spec["minReplicas"] == 1
    assert spec["metrics"] == [resource("cpu", 80)]


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        (
            {"maxReplicas": 0},
            [
                "spec.maxReplicas: Required value: must be set and greater than 0",
                "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
            ],
        ),
        ({"minReplicas": 5}, ["spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`"]),
        (
            {"behavior": {"scaleUp": {"stabilizationWindowSeconds": 3601}}},
            ["spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600"],
        ),
    ],
)
def test_checks(spec: Json, wanted: list[str]) -> None:
    assert complaints(STRATEGY, autoscaler(spec)) == wanted


def test_one_percentage_of_cpu_is_a_field_of_v1() -> None:
    old = convert_autoscaler(created(STRATEGY, autoscaler({"metrics": [resource("cpu", 50)]})), "autoscaling/v1")
    assert old["apiVersion"] == "autoscaling/v1"
    assert old["spec"]["targetCPUUtilizationPercentage"] == 50
    assert "annotations" not in old["metadata"]


def test_the_rest_goes_there_and_back_in_annotations() -> None:
    behavior = {"scaleDown": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}]}}
    new = created(STRATEGY, autoscaler({"metrics": [resource("cpu", 50), resource("memory", 70)], "behavior": behavior}))
    old = convert_autoscaler(new, "autoscaling/v1")
    assert set(old["metadata"]["annotations"]) == {
        "autoscaling.alpha.kubernetes.io/metrics",
        "autoscaling.alpha.kubernetes.io/behavior",
    }
    back = convert_autoscaler(old, "autoscaling/v2")
    assert back["spec"]["behavior"] == new["spec"]["behavior"]
    assert sorted(map(str, back["spec"]["metrics"])) == sorted(map(str, new["spec"]["metrics"]))
    assert not back["metadata"].get("annotations")


@pytest.mark.parametrize(
    ("seen", "wanted"),
    [
        ({}, {"averageUtilization": 50}),
        ({_CURRENT: [{"type": "Resource", "resource": {"name": "cpu"}}]}, {"averageValue": "0"}),
        ({_CURRENT: [{"type": "Pods", "pods": {"currentAverageValue": 1024}}]}, {"averageValue": "1024"}),
        ({_CURRENT: [{"type": "External", "external": {"currentAverageValue": "1"}}]}, {"value": "0", "averageValue": "1"}),
        ({_CURRENT: [{"type": "Object", "object": {"averageValue": "1"}}]}, {"value": "0", "averageValue": "1"}),
        ({_CURRENT: [{"type": "Pods", "pods": {"currentAverageValue": "many"}}]}, {"averageUtilization": 50}),
        ({_CURRENT: ["cpu"]}, {"averageUtilization": 50}),
    ],
)
def test_what_is_seen_comes_from_the_annotation_or_the_field(seen: Json, wanted: Json) -> None:
    annotations = {name: json.dumps(value) for name, value in seen.items()}
    status = {"currentCPUUtilizationPercentage": 50}
    new = convert_autoscaler({"metadata": {"annotations": annotations}, "spec": {}, "status": status}, "autoscaling/v2")
    [metric] = new["status"]["currentMetrics"]
    (source,) = (value for name, value in metric.items() if name != "type")
    assert source["current"] == wanted


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("metrics", '[{"type": 5}]'),
        ("metrics", '[{"type": "Resource", "resource": "x"}]'),
        ("metrics", '[{"type": "Resource", "resource": {"name": 5}}]'),
        ("metrics", '[{"type": "Object", "object": {"target": 5}}]'),
        ("behavior", '{"ScaleUp": {"Policies": 5}}'),
        ("behavior", '{"ScaleUp": {"Policies": [5]}}'),
        ("behavior", '{"ScaleUp": {"StabilizationWindowSeconds": "a"}}'),
        ("behavior", '{"ScaleUp": {"Tolerance": "many"}}'),
        ("conditions", '[{"type": 5}]'),
    ],
)
def test_annotations_that_do_not_fit_say_nothing(name: str, text: str) -> None:
    annotations = {f"autoscaling.alpha.kubernetes.io/{name}": text}
    new = convert_autoscaler({"metadata": {"annotations": annotations}, "spec": {}}, "autoscaling/v2")
    assert (new["spec"], new["status"]) == ({}, {"desiredReplicas": 0, "currentMetrics": None})


def test_annotations_are_written_as_go_orders_fields() -> None:
    described = {"apiVersion": "v1", "kind": "Service", "name": "s"}
    selector = {"matchExpressions": [{"key": "k", "operator": "Exists"}], "matchLabels": {"b": "", "a": "b"}}
    metric = {"describedObject": described, "metric": {"name": "m", "selector": selector}, "target": {"averageValue": "1"}}
    new = {"metadata": {}, "spec": {"metrics": [{"type": "Object", "object": metric}]}}
    [text] = convert_autoscaler(new, "autoscaling/v1")["metadata"]["annotations"].values()
    target = '"target":{"kind":"Service","name":"s","apiVersion":"v1"},"metricName":"m","targetValue":"0"'
    labels = '"selector":{"matchLabels":{"a":"b","b":""},"matchExpressions":[{"key":"k","operator":"Exists"}]}'
    assert text == f'[{{"type":"Object","object":{{{target},{labels},"averageValue":"1"}}}}]'


def test_containers_metrics_name_a_resource_and_a_container() -> None:
    target = {"averageUtilization": 50}
    metric = {"type": "ContainerResource", "containerResource": {"name": "gpu", "container": "Odd_One", "target": target}}
    told = complaints(STRATEGY, autoscaler({"metrics": [metric]}))
    assert [text.removeprefix("spec.metrics[0].containerResource.").split(": a lower")[0] for text in told] == [
        'name: Invalid value: "gpu": must be a standard resource type or fully qualified',
        'name: Invalid value: "gpu": must be a standard resource for containers',
        'container: Invalid value: "Odd_One"',
        "target.type: Required value: must specify a metric target type",
        'target.type: Invalid value: "": must be either Utilization, Value, or AverageValue',
    ]


def test_one_that_scales_to_zero_may_go_on() -> None:
    metric = {"type": "External", "external": {"metric": {"name": "m"}, "target": {"type": "Value", "value": "1"}}}
    spec = {"minReplicas": 0, "metrics": [metric]}
    assert len(complaints(STRATEGY, autoscaler(spec))) == 1
    assert complaints(STRATEGY, autoscaler(spec), created(STRATEGY, autoscaler(spec))) == []


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ({}, ""),
        ({"apiVersion": "v1"}, "apiVersion must specify API group"),
        ({"apiVersion": "/v1"}, "apiVersion must specify API group"),
        ({"apiVersion": "a/b/c"}, "unexpected GroupVersion string: a/b/c"),
        ({"apiVersion": "v2", "kind": "ReplicationController"}, ""),
    ],
)
def test_the_target_has_a_group(target: Json, why: str) -> None:
    obj = autoscaler({"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", **target}})
    assert [text.partition(": ")[2] for text in complaints(STRATEGY, obj)] == (
        [f'Invalid value: "{target["apiVersion"]}": {why}'] if why else []
    )
    assert complaints(STRATEGY, obj, created(STRATEGY, dict(obj))) == []
