"""Cells of the kinds' tables; columns are compared with what a real server sent, where those recordings are at hand."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from setpoint.registry.table import RESOURCES
from setpoint.registry.tables import TABLES, printing

NOW = printing.seconds("2030-01-10T00:00:00Z")
CREATED = "2030-01-09T23:59:58Z"
GOLDEN = Path(os.environ.get("GOLDEN", Path(__file__).parents[4] / "shared" / "golden"))

Json = dict[str, Any]


def cells(group: str, kind: str, obj: Json, **metadata: Any) -> list[Any]:
    obj = {**obj, "metadata": {"name": "a", "creationTimestamp": CREATED, **metadata}}
    return TABLES[group, kind].cells(obj, NOW)


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (150, "2m30s"),
        (600, "10m"),
        (3600, "60m"),
        (10800, "3h"),
        (11100, "3h5m"),
        (28800, "8h"),
        (172799, "47h"),
        (172800, "2d"),
        (442800, "5d3h"),
        (8 * 86400, "8d"),
        (700 * 86400, "700d"),
        (800 * 86400, "2y70d"),
        (3000 * 86400, "8y"),
    ],
)
def test_durations(length: float, text: str) -> None:
    assert printing.duration(length) == text


def status(name: str = "c", *, ready: bool = False, restarts: int = 0, **state: Any) -> Json:
    return {"name": name, "ready": ready, "restartCount": restarts, "state": state}


def pod(spec: Json | None = None, /, **status: Any) -> Json:
    return {"spec": {"containers": [{"name": "c"}], **(spec or {})}, "status": {"phase": "Pending", **status}}


NOTHING = ["<none>"] * 4


@pytest.mark.parametrize(
    ("obj", "ready", "word", "restarts"),
    [
        (pod(), "0/1", "Pending", "0"),
        (pod(containerStatuses=[status(waiting={"reason": "ImagePullBackOff"})]), "0/1", "ImagePullBackOff", "0"),
        (pod(phase="Failed", containerStatuses=[status(terminated={"exitCode": 7})]), "0/1", "ExitCode:7", "0"),
        (pod(phase="Failed", containerStatuses=[status(terminated={"signal": 9, "exitCode": 137})]), "0/1", "Signal:9", "0"),
        (pod(phase="Failed", reason="Evicted"), "0/1", "Evicted", "0"),
        (
            pod(phase="Succeeded", containerStatuses=[status(terminated={"reason": "Completed", "exitCode": 0})]),
            "0/1",
            "Completed",
            "0",
        ),
        (
            pod(conditions=[{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]),
            "0/1",
            "SchedulingGated",
            "0",
        ),
        (
            pod(
                {"initContainers": [{"name": "i1"}, {"name": "i2"}]},
                initContainerStatuses=[status("i1", terminated={"exitCode": 0}), status("i2", restarts=2, running={})],
            ),
            "0/1",
            "Init:1/2",
            "2",
        ),
        (
            pod({"initContainers": [{"name": "i"}]}, initContainerStatuses=[status("i", terminated={"exitCode": 3})]),
            "0/1",
            "Init:ExitCode:3",
            "0",
        ),
        (
            pod(
                {"initContainers": [{"name": "i"}]},
                initContainerStatuses=[status("i", waiting={"reason": "CrashLoopBackOff"})],
            ),
            "0/1",
            "Init:CrashLoopBackOff",
            "0",
        ),
        (
            pod(
                {"initContainers": [{"name": "s", "restartPolicy": "Always"}, {"name": "i"}]},
                phase="Running",
                initContainerStatuses=[
                    {**status("s", ready=True, restarts=1, running={}), "started": True},
                    status("i", restarts=4, terminated={"exitCode": 0}),
                ],
                containerStatuses=[status(ready=True, restarts=2, running={})],
            ),
            "2/2",
            "Running",
            "3",
        ),
        (
            pod(
                {"containers": [{"name": "c"}, {"name": "d"}]},
                phase="Running",
                containerStatuses=[
                    status("c", terminated={"reason": "Completed", "exitCode": 0}),
                    status("d", ready=True, running={}),
                ],
            ),
            "1/2",
            "NotReady",
            "0",
        ),
        (  # sidecars after an init container that is not done are not looked at, whatever the condition says
            pod(
                {"initContainers": [{"name": "i"}, {"name": "s", "restartPolicy": "Always"}]},
                conditions=[{"type": "Initialized", "status": "True"}],
                initContainerStatuses=[status("i", running={}), status("s", restarts=4, running={})],
                containerStatuses=[status(restarts=1, running={})],
            ),
            "0/2",
            "Init:0/2",
            "1",
        ),
    ],
)
def test_words_of_pods(obj: Json, ready: str, word: str, restarts: str) -> None:
    assert cells("", "Pod", obj) == ["a", ready, word, restarts, "2s", *NOTHING]


def test_a_pod_with_everything() -> None:
    ended = {"terminated": {"exitCode": 1, "finishedAt": "2030-01-09T23:00:00Z"}}
    obj = pod(
        {"nodeName": "n", "readinessGates": [{"conditionType": "x/g"}, {"conditionType": "x/h"}]},
        phase="Running",
        podIP="10.0.0.1",
        podIPs=[{"ip": "10.0.0.1"}],
        nominatedNodeName="m",
        conditions=[{"type": "x/g", "status": "True"}],
        containerStatuses=[{**status(ready=True, restarts=3, running={}), "lastState": ended}],
    )
    assert cells("", "Pod", obj) == ["a", "1/1", "Running", "3 (60m ago)", "2s", "10.0.0.1", "n", "m", "1/2"]


def test_pods_that_are_deleted_or_done() -> None:
    assert cells("", "Pod", pod(), deletionTimestamp=CREATED)[2] == "Terminating"
    assert cells("", "Pod", pod(reason="NodeLost"), deletionTimestamp=CREATED)[2] == "Unknown"
    assert cells("", "Pod", pod(phase="Failed"), deletionTimestamp=CREATED)[2] == "Failed"
    mark = TABLES["", "Pod"].conditions
    assert mark is not None
    assert mark(pod()) == []
    assert mark(pod(phase="Failed")) == [
        {"type": "Completed", "status": "True", "reason": "Failed", "message": "The pod failed."}
    ]


CONTAINERS = [{"name": "c", "image": "i"}, {"name": "d", "image": "j"}]
TEMPLATE = {"metadata": {"labels": {"b": "2", "a": "1"}}, "spec": {"containers": CONTAINERS}}
SELECTOR = {"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "b", "operator": "In", "values": ["y", "x"]}]}


@pytest.mark.parametrize(
    ("group", "kind", "obj", "expected"),
    [
        ("", "ConfigMap", {"data": {"x": "1"}, "binaryData": {"y": "aGk="}}, ["a", 2, "2s"]),
        ("", "Secret", {"type": "example.com/k", "data": {"k": "", "l": ""}}, ["a", "example.com/k", 2, "2s"]),
        ("", "ServiceAccount", {}, ["a", "2s"]),
        ("", "PodTemplate", {"template": TEMPLATE}, ["a", "c,d", "i,j", "a=1,b=2"]),
        (
            "apps",
            "ReplicaSet",
            {"spec": {"replicas": 2, "selector": SELECTOR, "template": TEMPLATE}, "status": {"replicas": 1}},
            ["a", 2, 1, 0, "2s", "c,d", "i,j", "a=1,b in (x,y)"],
        ),
        (
            "apps",
            "Deployment",
            {
                "spec": {"replicas": 3, "selector": {"matchLabels": {"a": "1"}}, "template": TEMPLATE},
                "status": {"readyReplicas": 1, "updatedReplicas": 2, "availableReplicas": 1},
            },
            ["a", "1/3", 2, 1, "2s", "c,d", "i,j", "a=1"],
        ),
        (
            "batch",
            "Job",
            {
                "spec": {"completions": 3, "template": TEMPLATE, "selector": {"matchLabels": {"u": "1"}}},
                "status": {"succeeded": 1, "startTime": "2030-01-09T23:59:00Z"},
            },
            ["a", "Running", "1/3", "60s", "2s", "c,d", "i,j", "u=1"],
        ),
        (
            "batch",
            "Job",
            {
                "spec": {"parallelism": 2, "template": TEMPLATE},
                "status": {"conditions": [{"type": "Suspended", "status": "True"}]},
            },
            ["a", "Suspended", "0/1 of 2", "", "2s", "c,d", "i,j", "<none>"],
        ),
        (
            "batch",
            "CronJob",
            {"spec": {"schedule": "* * * * *", "suspend": True, "jobTemplate": {"spec": {"template": TEMPLATE}}}},
            ["a", "* * * * *", "<none>", "True", 0, "<none>", "2s", "c,d", "i,j", "<none>"],
        ),
        (
            "",
            "Service",
            {
                "spec": {
                    "type": "LoadBalancer",
                    "clusterIP": "10.0.0.7",
                    "externalIPs": ["192.0.2.1"],
                    "ports": [{"port": 81, "nodePort": 30001, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}],
                },
                "status": {"loadBalancer": {"ingress": [{"hostname": "x"}, {"ip": "1.1.1.1"}]}},
            },
            ["a", "LoadBalancer", "10.0.0.7", "1.1.1.1,x,192.0.2.1", "81:30001/TCP,53/UDP", "2s", "<none>"],
        ),
        (
            "",
            "Endpoints",
            {
                "subsets": [
                    {"addresses": [{"ip": "1.1.1.1"}, {"ip": "::1"}], "ports": [{"port": 80}, {"port": 81}]},
                ]
            },
            ["a", "1.1.1.1:80,[::1]:80,1.1.1.1:81 + 1 more...", "2s"],
        ),
        ("", "Endpoints", {}, ["a", "<none>", "2s"]),
        (
            "",
            "Event",
            {
                "involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "spec.containers{c}"},
                "type": "Warning",
                "reason": "Bad",
                "message": " it broke ",
                "source": {"component": "me", "host": "h"},
                "firstTimestamp": "2030-01-09T23:50:00Z",
                "lastTimestamp": "2030-01-09T23:59:00Z",
            },
            ["60s", "Warning", "Bad", "pod/p", "spec.containers{c}", "me, h", "it broke", "10m", 1, "a"],
        ),
        (
            "",
            "ResourceQuota",
            {"status": {"hard": {"secrets": "5", "limits.cpu": "4", "cpu": "2"}, "used": {"secrets": "1"}}},
            ["a", "cpu: 0/2, secrets: 1/5", "limits.cpu: 0/4", "2s"],
        ),
        (
            "autoscaling",
            "HorizontalPodAutoscaler",
            {
                "spec": {
                    "maxReplicas": 3,
                    "scaleTargetRef": {"kind": "Deployment", "name": "d"},
                    "metrics": [
                        {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 50}}},
                        {"type": "Resource", "resource": {"name": "memory", "target": {"averageValue": "10Mi"}}},
                        {"type": "Pods", "pods": {"target": {"averageValue": "1"}}},
                    ],
                },
                "status": {"currentMetrics": [{"type": "Resource", "resource": {"current": {"averageUtilization": 7}}}]},
            },
            ["a", "Deployment/d", "cpu: 7%/50%, memory: <unknown>/10Mi + 1 more...", "<unset>", 3, 0, "2s"],
        ),
        (
            "autoscaling",
            "HorizontalPodAutoscaler",
            {
                "spec": {"metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"averageValue": "1"}}}]},
                "status": {"currentMetrics": [{"type": "Resource", "resource": {"current": {"averageUtilization": 7}}}]},
            },
            ["a", "/", "cpu: <nil>/1", "<unset>", 0, 0, "2s"],
        ),
        (
            "storage.k8s.io",
            "CSIDriver",
            {"spec": {"tokenRequests": [{"audience": ""}]}},
            ["a", True, False, False, "", False, "<none>", "2s"],
        ),
        (
            "",
            "PersistentVolumeClaim",
            {"spec": {"volumeAttributesClassName": "", "storageClassName": "s"}},
            ["a", "", "", "", "", "s", "", "2s", "<unset>"],
        ),
        (
            "networking.k8s.io",
            "IPAddress",
            {"spec": {"parentRef": {"resource": "services", "namespace": "n", "name": "s"}}},
            ["a", "services/n/s", "2s"],
        ),
        (
            "admissionregistration.k8s.io",
            "ValidatingAdmissionPolicyBinding",
            {"spec": {"policyName": "p", "paramRef": {"name": "m"}}},
            ["a", "p", "*/m", "2s"],
        ),
        (
            "admissionregistration.k8s.io",
            "MutatingAdmissionPolicyBinding",
            {"spec": {"policyName": "p", "paramRef": {"selector": {"matchLabels": {"a": "1"}}}}},
            [
                "a",
                "p",
                "&LabelSelector{MatchLabels:map[string]string{a: 1,},MatchExpressions:[]LabelSelectorRequirement{},}",
                "2s",
            ],
        ),
        (
            "rbac.authorization.k8s.io",
            "RoleBinding",
            {
                "roleRef": {"kind": "ClusterRole", "name": "view"},
                "subjects": [
                    {"kind": "User", "name": "u1"},
                    {"kind": "User", "name": "u2"},
                    {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
                ],
            },
            ["a", "ClusterRole/view", "2s", "u1, u2", "", "n/s"],
        ),
    ],
)
def test_cells(group: str, kind: str, obj: Json, expected: list[Any]) -> None:
    assert cells(group, kind, obj) == expected


def test_nodes() -> None:
    node = {
        "spec": {"unschedulable": True},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"kubeletVersion": "v1.2.3"},
            "addresses": [{"type": "InternalIP", "address": "10.2.2.2"}],
        },
    }
    labels = {"node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/control-plane": ""}
    unknown = ["<unknown>"] * 3
    assert cells("", "Node", node, labels=labels) == [
        *("a", "Ready,SchedulingDisabled", "control-plane,worker", "2s", "v1.2.3", "10.2.2.2", "<none>"),
        *unknown,
    ]
    assert cells("", "Node", {"spec": {}, "status": {}})[1:3] == ["Unknown", "<none>"]


@pytest.mark.parametrize("key", sorted(TABLES))
def test_every_table_prints_a_bare_object(key: tuple[str, str]) -> None:
    """What a user leaves out must not break a list."""
    table = TABLES[key]
    found = table.cells({"metadata": {"name": "a"}, "spec": {}, "status": {}}, NOW)
    extra = 1 if key[1] == "IPAddress" else 0
    assert len(found) == len(table.columns) + extra


def test_every_column_is_described() -> None:
    missing = [(key, column.name) for key, table in TABLES.items() for column in table.columns if not column.text()]
    assert missing == []


def recorded() -> list[tuple[str, str, list[Json]]]:
    """The columns that a real server sent, by kind."""
    file = GOLDEN / "read-tables.golden.json"
    if not file.exists():
        return []
    import yaml

    kinds = {(row.group, row.plural): row.kind for row in RESOURCES} | {("", "componentstatuses"): "ComponentStatus"}
    answers = json.loads(file.read_text())
    found = []
    for case in yaml.safe_load((GOLDEN / "read-tables.cases.yaml").read_text()):
        for step, answer in zip(case["steps"], answers[case["case"]], strict=False):
            columns = (answer.get("body") or {}).get("columnDefinitions") if "do" in step else None
            _, *parts = step.get("do", "x /").split(" ")[1].partition("?")[0].split("/")
            group, rest = ("", parts[2:]) if parts[0] == "api" else (parts[1] if len(parts) > 1 else "", parts[3:])
            rest = rest[2:] if rest[:1] == ["namespaces"] and len(rest) > 2 else rest
            kind = kinds.get((group, rest[0])) if rest else None
            if columns and kind and len(rest) < 3 and (group, kind) in TABLES:
                found.append((group, kind, columns))
    return found


@pytest.mark.skipif(not recorded(), reason="the recorded answers of a real server are not on this machine")
def test_columns_are_those_of_a_real_server() -> None:
    for group, kind, columns in recorded():
        ours = [
            {"name": one.name, "type": one.type, "format": one.format, "priority": one.priority, "description": one.text()}
            for one in TABLES[group, kind].columns
        ]
        for mine, theirs in zip(ours, columns, strict=True):
            assert {key: mine[key] for key in theirs} == theirs, (group, kind)


def test_hosts_beyond_the_third_and_ports_without_a_number() -> None:
    rules = [{"host": f"{name}.example"} for name in "abc"]
    ingress = {"metadata": {"name": "i"}, "spec": {"rules": [{}, *rules, {}]}}
    assert TABLES["networking.k8s.io", "Ingress"].cells(ingress, 0)[2] == "a.example,b.example,c.example + 2 more..."
    ingress["spec"] = {"rules": [{}, *rules]}
    assert TABLES["networking.k8s.io", "Ingress"].cells(ingress, 0)[2] == "a.example,b.example,c.example"
    endpoints = {"metadata": {"name": "e"}, "addressType": "IPv4", "endpoints": [], "ports": [{"name": ""}]}
    assert TABLES["discovery.k8s.io", "EndpointSlice"].cells(endpoints, 0)[2] == "<unset>"
    headless = {"metadata": {"name": "e"}, "subsets": [{"addresses": [{"ip": "10.0.0.1"}]}]}
    assert TABLES["", "Endpoints"].cells(headless, 0)[1] == "10.0.0.1"


@pytest.mark.parametrize(
    ("conditions", "cells"),
    [
        ([{"type": "Healthy", "status": "True", "message": "ok"}], ["Healthy", "ok", ""]),
        ([{"type": "Healthy", "status": "False", "message": "m", "error": "e"}], ["Unhealthy", "m", "e"]),
        ([], ["Unknown", "", ""]),
    ],
)
def test_the_parts_of_the_control_plane(conditions: list[Json], cells: list[str]) -> None:
    part = {"metadata": {"name": "etcd-0"}, "conditions": conditions}
    assert TABLES["", "ComponentStatus"].cells(part, 0) == ["etcd-0", *cells]
