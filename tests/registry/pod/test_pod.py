"""Pods: defaults, quality of service, what may be written and what may change."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from tests.registry.builders import Json, complaints, context, created, pod

from setpoint.registry.pod.images import default_pull_policy
from setpoint.registry.pod.qos import qos_class
from setpoint.registry.pod.strategy import (
    PodEphemeralContainersStrategy,
    PodResizeStrategy,
    PodStatusStrategy,
    PodStrategy,
)

STRATEGY = PodStrategy()


def said(spec: Json | None = None, /, **container: Any) -> list[str]:
    return complaints(STRATEGY, pod(spec, **container))


def test_defaults() -> None:
    spec = created(STRATEGY, pod(ports=[{"containerPort": 80}], livenessProbe={"httpGet": {"port": 80}}))["spec"]
    assert {name: value for name, value in spec.items() if name != "containers"} == {
        "restartPolicy": "Always",
        "dnsPolicy": "ClusterFirst",
        "terminationGracePeriodSeconds": 30,
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "enableServiceLinks": True,
    }
    assert spec["containers"] == [
        {
            "name": "c",
            "image": "img:1",
            "imagePullPolicy": "IfNotPresent",
            "ports": [{"containerPort": 80, "protocol": "TCP"}],
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
            "livenessProbe": {
                "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
                "timeoutSeconds": 1,
                "periodSeconds": 10,
                "successThreshold": 1,
                "failureThreshold": 3,
            },
        }
    ]


def test_a_negative_period_of_grace_is_one_second() -> None:
    spec = {"terminationGracePeriodSeconds": -5}
    old = created(STRATEGY, pod(spec))
    assert old["spec"]["terminationGracePeriodSeconds"] == 1
    assert complaints(STRATEGY, pod(spec), old) == []


def test_defaults_are_set_once() -> None:
    once = created(STRATEGY, pod({"volumes": [{"name": "v", "secret": {"secretName": "s"}}]}, resources={"limits": {"cpu": "1"}}))
    again = deepcopy(once)
    STRATEGY.default(again)
    assert again == once


PAGES = "hugepages-2Mi"


@pytest.mark.parametrize(
    ("own", "container", "wanted"),
    [
        # limits of containers do not become the pod's, but those of huge pages do
        ({"requests": {"cpu": "2"}}, {"limits": {"cpu": "1", "memory": "1Gi"}}, {"requests": {"cpu": "2"}}),
        (
            {"requests": {"cpu": "2"}},
            {"limits": {"cpu": "1", PAGES: "4Mi"}},
            {"limits": {PAGES: "4Mi"}, "requests": {"cpu": "2", PAGES: "4Mi"}},
        ),
        # a request of huge pages makes no limit, for validation to complain of
        ({"requests": {"cpu": "2", PAGES: "4Mi"}}, {}, {"requests": {"cpu": "2", PAGES: "4Mi"}}),
        ({"requests": {PAGES: "4Mi"}}, {"limits": {PAGES: "2Mi"}}, {"requests": {PAGES: "4Mi"}}),
        (
            {"limits": {"cpu": "2", "memory": "2Gi", PAGES: "8Mi"}},
            {"requests": {"cpu": "500m"}, "limits": {PAGES: "4Mi"}},
            {
                "limits": {"cpu": "2", "memory": "2Gi", PAGES: "8Mi"},
                "requests": {"cpu": "500m", "memory": "2Gi", PAGES: "8Mi"},
            },
        ),
        ({}, {"limits": {PAGES: "4Mi"}}, {}),
    ],
)
def test_defaults_of_a_pods_own_resources(own: Json, container: Json, wanted: Json) -> None:
    assert created(STRATEGY, pod({"resources": own}, resources=container))["spec"]["resources"] == wanted


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("img", "Always"),
        ("img:latest", "Always"),
        ("img:1", "IfNotPresent"),
        ("host:5000/img", "Always"),
        ("host:5000/img:2", "IfNotPresent"),
        ("img@sha256:" + "a" * 64, "IfNotPresent"),
    ],
)
def test_pull_policies(image: str, policy: str) -> None:
    assert default_pull_policy(image) == policy


@pytest.mark.parametrize(
    ("resources", "wanted"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1000m", "memory": "1024Mi"}}, "Guaranteed"),
        ({"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "0"}}, "BestEffort"),
    ],
)
def test_quality_of_service(resources: Json, wanted: str) -> None:
    assert qos_class(pod(resources=resources)["spec"]) == wanted


def test_requests_follow_limits() -> None:
    resources = created(STRATEGY, pod(resources={"limits": {"cpu": "1"}}))["spec"]["containers"][0]["resources"]
    assert resources == {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}


@pytest.mark.parametrize(
    ("container", "wanted"),
    [
        ({"name": ""}, ["spec.containers[0].name: Required value"]),
        ({"image": ""}, ["spec.containers[0].image: Required value"]),
        ({"image": " a"}, ['spec.containers[0].image: Invalid value: " a": must not have leading or trailing whitespace']),
        (
            {"ports": [{"containerPort": 0}]},
            ["spec.containers[0].ports[0].containerPort: Required value"],
        ),
        (
            {"ports": [{"containerPort": 70000, "protocol": "X"}]},
            [
                "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
                'spec.containers[0].ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
            ],
        ),
        (
            {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}},
            ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
        ),
        ({"volumeMounts": [{"name": "v", "mountPath": "/a"}]}, ['spec.containers[0].volumeMounts[0].name: Not found: "v"']),
        (
            {"livenessProbe": {"successThreshold": 2, "exec": {"command": ["a"]}}},
            ["spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1"],
        ),
        ({"livenessProbe": {}}, ["spec.containers[0].livenessProbe: Required value: must specify a handler type"]),
        (
            {"securityContext": {"privileged": True, "allowPrivilegeEscalation": False}},
            [
                (
                    "spec.containers[0].securityContext: Invalid value: <object>: "
                    "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
                )
            ],
        ),
    ],
)
def test_containers_are_checked(container: Json, wanted: list[str]) -> None:
    def plain(text: str) -> str:
        head, brace, rest = text.partition("{")
        return f"{head}<object>{rest.rpartition('}')[2]}" if brace else text

    assert [plain(text) for text in said(**container)] == wanted


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"containers": []}, ["spec.containers: Required value"]),
        (
            {"activeDeadlineSeconds": 0},
            ["spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"],
        ),
        ({"volumes": [{"name": "v"}, {"name": "v"}]}, ['spec.volumes[1].name: Duplicate value: "v"']),
        (
            {"volumes": [{"name": "v", "emptyDir": {}, "hostPath": {"path": "/a", "type": ""}}]},
            ["spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"],
        ),
        ({"dnsPolicy": "None"}, ["spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"]),
        (
            {"tolerations": [{"operator": "Exists", "key": "a", "value": "b"}]},
            ["spec.tolerations[0].operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'"],
        ),
        (
            {"schedulingGates": [{"name": "a/b"}, {"name": "a/b"}]},
            ['spec.schedulingGates[1]: Duplicate value: "a/b"'],
        ),
    ],
)
def test_the_spec_is_checked(spec: Json, wanted: list[str]) -> None:
    assert said(spec) == wanted


def test_update_allows_little() -> None:
    old = created(STRATEGY, pod())
    new = deepcopy(old)
    new["spec"]["containers"][0]["image"] = "img:2"
    new["spec"]["activeDeadlineSeconds"] = 5
    assert complaints(STRATEGY, new, old) == []
    new["spec"]["nodeName"] = "elsewhere"
    (text,) = complaints(STRATEGY, new, old)
    start = "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`"
    assert text.startswith(start)
    assert '"NodeName": "elsewhere"' in text


def test_a_deadline_only_shrinks() -> None:
    old = created(STRATEGY, pod({"activeDeadlineSeconds": 5}))
    longer = deepcopy(old)
    longer["spec"]["activeDeadlineSeconds"] = 6
    assert complaints(STRATEGY, longer, old) == [
        "spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value"
    ]


def test_the_status_endpoint_takes_the_status_alone() -> None:
    old = created(STRATEGY, pod())
    new = deepcopy(old)
    new["spec"]["nodeName"] = "n"
    new["status"]["phase"] = "Running"
    assert complaints(PodStatusStrategy(), new, old) == []
    assert new["spec"] == old["spec"]
    assert new["status"]["phase"] == "Running"


def test_ephemeral_containers_are_added_and_stay() -> None:
    strategy = PodEphemeralContainersStrategy()
    old = created(STRATEGY, pod())
    new = deepcopy(old)
    new["spec"]["ephemeralContainers"] = [{"name": "dbg", "image": "dbg", "targetContainerName": "c"}]
    assert complaints(strategy, new, old) == []
    gone = deepcopy(new)
    del gone["spec"]["ephemeralContainers"]
    (text,) = complaints(strategy, gone, new)
    assert text.startswith("spec.ephemeralContainers: Forbidden: existing ephemeral containers")


def test_resize_changes_resources_alone() -> None:
    strategy = PodResizeStrategy()
    old = created(STRATEGY, pod(resources={"requests": {"cpu": "1"}}))
    new = deepcopy(old)
    new["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "2"
    new["spec"]["containers"][0]["image"] = "other"
    assert complaints(strategy, new, old) == []
    (container,) = new["spec"]["containers"]
    assert (container["image"], container["resources"]) == ("img:1", {"requests": {"cpu": "2"}})


@pytest.mark.parametrize(
    ("changes", "requested", "wanted"),
    [
        ({"spec": {"nodeName": "n"}}, None, 30),
        ({"spec": {"nodeName": "n"}}, 5, 5),
        ({"spec": {}}, 5, 0),
        ({"spec": {"nodeName": "n"}, "status": {"phase": "Failed"}}, 5, 0),
    ],
)
def test_grace(changes: Json, requested: int | None, wanted: int) -> None:
    obj = created(STRATEGY, pod(changes["spec"]))
    obj["status"] |= changes.get("status", {})
    assert STRATEGY.grace_period(context(operation="DELETE"), obj, requested) == wanted


def test_selectable_fields() -> None:
    fields = STRATEGY.fields(created(STRATEGY, pod({"nodeName": "n"})))
    assert fields["spec.nodeName"] == "n"
    assert fields["status.phase"] == "Pending"
    assert set(fields) <= set(STRATEGY.selectable_fields) | {"metadata.name", "metadata.namespace"}


def test_warnings() -> None:
    obj = created(STRATEGY, pod(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]))
    (warning,) = STRATEGY.warnings_on_create(context(), obj)
    assert warning.startswith("spec.containers[0].env[1]: hides previous definition of")
