"""Deployments, replica sets, stateful sets and daemon sets."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from tests.registry.builders import Json, complaints, context, created, workload

from setpoint.api.machinery.status import StatusError
from setpoint.registry.apps.controller_revision import ControllerRevisionStrategy
from setpoint.registry.apps.daemon_set import DaemonSetStrategy
from setpoint.registry.apps.deployment import DeploymentStrategy, deployment_status
from setpoint.registry.apps.replica_set import ReplicaSetStrategy, replica_set_status
from setpoint.registry.apps.stateful_set import StatefulSetStrategy
from setpoint.registry.core.replication_controller import ReplicationControllerStrategy
from setpoint.registry.strategy import Strategy

KINDS = {
    "Deployment": DeploymentStrategy(),
    "ReplicaSet": ReplicaSetStrategy(),
    "StatefulSet": StatefulSetStrategy(),
    "DaemonSet": DaemonSetStrategy(),
}
each_kind = pytest.mark.parametrize(("kind", "strategy"), KINDS.items())


def test_a_deployments_defaults() -> None:
    spec = created(KINDS["Deployment"], workload("Deployment"))["spec"]
    assert {name: spec[name] for name in spec if name not in {"selector", "template"}} == {
        "replicas": 1,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    }
    assert spec["template"]["spec"]["restartPolicy"] == "Always"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}),
        ({"rollingUpdate": {"maxSurge": 2}}, {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 2}}),
        ({"type": "OnDelete"}, {"type": "OnDelete"}),
        (
            {"type": "OnDelete", "rollingUpdate": {"maxSurge": 2}},
            {"type": "OnDelete", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 2}},
        ),
    ],
)
def test_a_daemon_sets_update_has_all_numbers(given: Json, wanted: Json) -> None:
    assert created(KINDS["DaemonSet"], workload("DaemonSet", {"updateStrategy": given}))["spec"]["updateStrategy"] == wanted


@each_kind
def test_the_small_ones_are_valid(kind: str, strategy: Strategy) -> None:
    assert complaints(strategy, workload(kind)) == []


@each_kind
def test_the_selector_must_match(kind: str, strategy: Strategy) -> None:
    texts = complaints(strategy, workload(kind, {"selector": {"matchLabels": {"app": "b"}}}))
    assert texts == [
        'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
    ]


@each_kind
def test_a_selector_that_makes_no_sense_is_told_of_with_what_is_wrong_in_it(kind: str, strategy: Strategy) -> None:
    selector = {"matchExpressions": [{"key": "app", "operator": "Exists", "values": ["a"]}]}
    first, *rest = complaints(strategy, workload(kind, {"selector": selector}))
    why = "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
    assert first == f"spec.selector.matchExpressions[0].values: {why}"
    assert [text.partition(":")[0] for text in rest] == ([] if kind == "DaemonSet" else ["spec.selector"])


@each_kind
def test_templates_are_checked_with_their_path(kind: str, strategy: Strategy) -> None:
    texts = complaints(strategy, workload(kind, pod_spec={"restartPolicy": "Never"}))
    assert 'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"' in texts


@each_kind
def test_the_selector_stays(kind: str, strategy: Strategy) -> None:
    old = created(strategy, workload(kind))
    new = deepcopy(old)
    new["spec"]["selector"]["matchLabels"]["b"] = "c"
    new["spec"]["template"]["metadata"]["labels"]["b"] = "c"
    texts = complaints(strategy, new, old)
    if kind == "StatefulSet":
        assert texts[0].startswith("spec: Forbidden: updates to statefulset spec for fields other than")
    else:
        assert [text.partition("{")[0] for text in texts] == ["spec.selector: Invalid value: "]
        assert texts[0].endswith(": field is immutable")


@each_kind
def test_updates_are_checked_once_or_twice(kind: str, strategy: Strategy) -> None:
    old = created(strategy, workload(kind))
    new = deepcopy(old)
    new["spec"]["minReadySeconds"] = -1
    text = "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"
    assert complaints(strategy, new, old) == [text] * (2 if kind in {"ReplicaSet", "DaemonSet"} else 1)


def test_a_replication_controller_may_go_on_breaking_a_newer_rule() -> None:
    body = workload("ReplicationController")
    body["spec"]["selector"] = {"app": "a"}
    body["spec"]["template"]["metadata"]["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": "much"}
    strategy = ReplicationControllerStrategy()
    assert len(complaints(strategy, deepcopy(body))) == 1
    old = created(strategy, body)
    assert complaints(strategy, deepcopy(old), old) == []


def test_a_status_counts_no_less_than_nothing() -> None:
    old = created(KINDS["ReplicaSet"], workload("ReplicaSet"))
    counts = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "terminatingReplicas")
    new = {**old, "status": dict.fromkeys(counts, -1)}
    why = "Invalid value: -1: must be greater than or equal to 0"
    assert complaints(replica_set_status(), new, old) == [f"status.{count}: {why}" for count in counts]


@each_kind
def test_status_is_its_own_endpoints(kind: str, strategy: Strategy) -> None:
    obj = created(strategy, workload(kind) | {"status": {"replicas": 3}})
    assert "replicas" not in obj.get("status", {})


@pytest.mark.parametrize(
    ("rollout", "wanted"),
    [
        (
            {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}},
            ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
        ),
        (
            {"type": "Odd"},
            [
                (
                    'spec.strategy: Unsupported value: {"Type":"Odd","RollingUpdate":null}: '
                    'supported values: "Recreate", "RollingUpdate"'
                )
            ],
        ),
        (
            {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}},
            ["spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"],
        ),
        (
            {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "101%"}},
            ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
        ),
    ],
)
def test_rollouts_are_checked(rollout: Json, wanted: list[str]) -> None:
    texts = complaints(KINDS["Deployment"], workload("Deployment", {"strategy": rollout}))
    assert texts == wanted


def test_generation_rises_with_the_spec() -> None:
    strategy = KINDS["Deployment"]
    old = created(strategy, workload("Deployment"))
    new = deepcopy(old)
    assert not strategy.generation_changed(new, old)
    new["spec"]["replicas"] = 3
    assert strategy.generation_changed(new, old)


def test_the_status_endpoint_takes_the_status_alone() -> None:
    strategy = deployment_status()
    old = created(KINDS["Deployment"], workload("Deployment"))
    new = deepcopy(old) | {"status": {"replicas": 1, "availableReplicas": 2}}
    new["spec"]["replicas"] = 9
    assert complaints(strategy, new, old) == [
        "status.availableReplicas: Invalid value: 2: cannot be greater than status.replicas",
        "status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas",
    ]
    assert new["spec"]["replicas"] == 1


def test_a_daemon_set_says_it_uses_no_history_of_its_own() -> None:
    spec = created(KINDS["DaemonSet"], workload("DaemonSet"))["spec"]
    assert spec["updateStrategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}


def test_warnings_name_the_template() -> None:
    strategy = KINDS["Deployment"]
    env = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
    obj = workload("Deployment")
    obj["spec"]["template"]["spec"]["containers"][0]["env"] = env
    (warning,) = strategy.warnings_on_create(context(), created(strategy, obj))
    assert warning.startswith("spec.template.spec.containers[0].env[1]: hides previous definition of")


def test_warnings_of_claim_templates_come_with_every_update() -> None:
    strategy = StatefulSetStrategy()
    claim = {"metadata": {"name": "c"}, "spec": {"resources": {"requests": {"storage": "100m"}}}}
    old = created(strategy, workload("StatefulSet", {"volumeClaimTemplates": [claim], "revisionHistoryLimit": -1}))
    fraction = 'resources.requests[storage]: fractional byte value "100m" is invalid, must be an integer'
    history = "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
    assert strategy.warnings_on_create(context(), old) == [f"spec.volumeClaimTemplates[0].{fraction}", history]
    assert strategy.warnings_on_update(context(), deepcopy(old), old) == [
        f"spec.volumeClaimTemplates[0].Spec.{fraction}",
        history,
    ]


def test_containers_of_a_stateful_set_mount_its_claims() -> None:
    body = workload("StatefulSet")
    container = body["spec"]["template"]["spec"]["containers"][0]
    container["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    assert complaints(KINDS["StatefulSet"], body) == ['spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"']
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    body["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": claim}]
    assert complaints(KINDS["StatefulSet"], body) == []


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        ({}, []),
        (None, ["data: Required value: data is mandatory"]),
        ([], ["data: Required value: data must be a valid JSON object"]),
    ],
)
def test_a_revision_holds_an_object(data: Any, wanted: list[str]) -> None:
    obj = {"metadata": {"name": "r"}, "data": data, "revision": 1}
    assert complaints(ControllerRevisionStrategy(), obj) == wanted
    assert complaints(ControllerRevisionStrategy(), obj, obj) == []


def test_templates_say_nothing_of_init_containers_in_annotations() -> None:
    obj = workload("Deployment")
    obj["spec"]["template"]["metadata"]["annotations"] = {"pod.beta.kubernetes.io/init-containers": "[]", "a": "b"}
    assert created(DeploymentStrategy(), obj)["spec"]["template"]["metadata"]["annotations"] == {"a": "b"}


ROLLBACK = "deprecated.deployment.rollback.to"
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
NO_NUMBER = 'strconv.ParseInt: parsing "x": invalid syntax'


@pytest.mark.parametrize(
    ("kind", "annotation", "prefix"),
    [
        ("Deployment", ROLLBACK, f"failed to parse annotation[{ROLLBACK}]=x as int64: "),
        ("DaemonSet", TEMPLATE_GENERATION, ""),
    ],
)
def test_annotations_that_were_fields_hold_numbers(kind: str, annotation: str, prefix: str) -> None:
    one = workload(kind)
    one["metadata"]["annotations"] = {annotation: "x"}
    with pytest.raises(StatusError) as raised:
        KINDS[kind].default(one)
    assert raised.value.code == 400
    assert raised.value.message == f'{kind} in version "v1" cannot be handled as a {kind}: {prefix}{NO_NUMBER}'


@pytest.mark.parametrize(
    ("text", "wanted", "texts"),
    [
        ("3", {"a": "b", ROLLBACK: "3"}, []),
        ("+03", {"a": "b", ROLLBACK: "3"}, []),
        ("", {"a": "b"}, []),
        (
            "-1",
            {"a": "b", ROLLBACK: "-1"},
            ["spec.rollback.version: Invalid value: -1: must be greater than or equal to 0"],
        ),
    ],
)
def test_the_revision_to_go_back_to(text: str, wanted: Json, texts: list[str]) -> None:
    one = workload("Deployment")
    one["metadata"]["annotations"] = {"a": "b", ROLLBACK: text}
    assert complaints(KINDS["Deployment"], one) == texts
    assert one["metadata"]["annotations"] == wanted


def test_the_revision_to_go_back_to_is_complained_about_before_the_deadline() -> None:
    one = workload("Deployment", {"progressDeadlineSeconds": 1, "minReadySeconds": 1})
    one["metadata"]["annotations"] = {ROLLBACK: "-1"}
    fields = [text.partition(":")[0] for text in complaints(KINDS["Deployment"], one)]
    assert fields == ["spec.rollback.version", "spec.progressDeadlineSeconds"]
