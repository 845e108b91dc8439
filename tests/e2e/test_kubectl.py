"""Stock kubectl against three nodes: what it prints, not only that it exits with 0."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from setpoint.testing.real import Kubectl, eventually

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: app
        image: demo:v1
        command: [sh, -c, 'trap "exit 0" TERM; echo hello from $HOSTNAME; while :; do sleep 0.2; done']
"""

STATEFUL_SET = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 1
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - name: app
        image: demo:v1
        command: [sh, -c, 'echo started >> /data/starts; while :; do sleep 0.2; done']
        volumeMounts: [{name: data, mountPath: /data}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}
"""


@pytest.fixture
def web(kubectl: Kubectl, namespace: str) -> str:
    """A Deployment `web` of three, rolled out."""
    assert kubectl("apply", "-n", namespace, "-f", "-", stdin=DEPLOYMENT) == "deployment.apps/web created\n"
    said = kubectl("rollout", "status", "-n", namespace, "deployment/web", "--timeout=30s")
    assert 'deployment "web" successfully rolled out' in said
    return namespace


def get(kubectl: Kubectl, *arguments: str) -> Any:
    return json.loads(kubectl("get", *arguments, "-o", "json"))


def test_version(kubectl: Kubectl) -> None:
    assert re.search(r"Server Version: v1\.36\.\d+", kubectl("version"))


def test_api_resources(kubectl: Kubectl) -> None:
    lines = [line.split() for line in kubectl("api-resources").splitlines()]
    assert ["deployments", "deploy", "apps/v1", "true", "Deployment"] in lines
    assert ["nodes", "no", "v1", "false", "Node"] in lines
    assert ["nodes", "metrics.k8s.io/v1beta1", "false", "NodeMetrics"] in lines


def test_top(kubectl: Kubectl, web: str) -> None:
    head, *nodes = kubectl("top", "nodes").splitlines()
    assert head.split() == ["NAME", "CPU(cores)", "CPU(%)", "MEMORY(bytes)", "MEMORY(%)"]
    assert [line.split()[0] for line in nodes] == ["node-1", "node-2", "node-3"]
    pods = [line.split() for line in kubectl("top", "pods", "-n", web, "--containers", "--no-headers").splitlines()]
    assert sorted(pod[0] for pod in pods) == sorted(pod["metadata"]["name"] for pod in alive(kubectl, web))
    assert all(re.fullmatch(r"app \d+m \d+Mi", " ".join(pod[1:])) for pod in pods)


def test_data_outlives_the_pods_of_a_stateful_set(kubectl: Kubectl, namespace: str) -> None:
    kubectl("apply", "-n", namespace, "-f", "-", stdin=STATEFUL_SET)
    kubectl("rollout", "status", "-n", namespace, "statefulset/db", "--timeout=40s")
    kubectl("delete", "pod", "db-0", "-n", namespace)
    starts = ("exec", "-n", namespace, "db-0", "--", "cat", "/data/starts")
    eventually(lambda: kubectl.run(*starts).stdout.count("started\n") == 2)
    claim = get(kubectl, "pvc", "data-db-0", "-n", namespace)
    assert (claim["status"]["phase"], claim["spec"]["storageClassName"]) == ("Bound", "standard")
    volume = claim["spec"]["volumeName"]
    kubectl("delete", "statefulset,pvc", "--all", "-n", namespace, "--timeout=40s")
    eventually(lambda: kubectl.run("get", "pv", volume).returncode == 1)


def test_explain(kubectl: Kubectl) -> None:
    said = kubectl("explain", "deployment.spec.strategy")
    assert "KIND:       Deployment" in said
    assert "FIELD: strategy <DeploymentStrategy>" in said
    assert "rollingUpdate" in said
    assert "Possible enum values" in said or "Type of deployment" in said
    assert "containers" in kubectl("explain", "pod.spec", "--recursive")


def test_get_nodes(kubectl: Kubectl) -> None:
    lines = kubectl("get", "nodes").splitlines()
    assert lines[0].split() == ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    assert [line.split()[:2] for line in lines[1:]] == [["node-1", "Ready"], ["node-2", "Ready"], ["node-3", "Ready"]]
    wide = kubectl("get", "nodes", "-o", "wide")
    assert "CONTAINER-RUNTIME" in wide
    assert "process://" in wide


def test_get_in_every_form(kubectl: Kubectl, web: str) -> None:
    assert kubectl("get", "deployment", "-n", web).splitlines()[1].split()[:4] == ["web", "3/3", "3", "3"]
    wide = kubectl("get", "pods", "-n", web, "-o", "wide").splitlines()
    assert wide[0].split()[:7] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE"]
    assert {line.split()[2] for line in wide[1:]} == {"Running"}
    assert {line.split()[6] for line in wide[1:]} == {"node-1", "node-2", "node-3"}
    assert kubectl("get", "deployment", "web", "-n", web, "-o", "name") == "deployment.apps/web\n"
    assert "  replicas: 3" in kubectl("get", "deployment", "web", "-n", web, "-o", "yaml")
    assert kubectl("get", "deployment", "web", "-n", web, "-o", "jsonpath={.status.availableReplicas}") == "3"


def test_get_watch_sees_a_change(kubectl: Kubectl, web: str) -> None:
    with kubectl.start("get", "deployment", "web", "-n", web, "-w") as watcher:
        assert watcher.stdout is not None
        assert watcher.stdout.readline().startswith("NAME")
        assert watcher.stdout.readline().split()[:2] == ["web", "3/3"]
        kubectl("scale", "deployment/web", "-n", web, "--replicas=4")
        deadline = time.monotonic() + 20
        while watcher.stdout.readline().split()[:2] != ["web", "4/4"]:
            assert time.monotonic() < deadline
        watcher.kill()


def test_describe(kubectl: Kubectl, web: str) -> None:
    said = kubectl("describe", "deployment", "web", "-n", web)
    assert re.search(r"Replicas:\s+3 desired \| 3 updated \| 3 total \| 3 available \| 0 unavailable", said)
    assert "Available      True    MinimumReplicasAvailable" in said
    assert re.search(r"Normal\s+ScalingReplicaSet\s.*deployment-controller\s+Scaled up replica set web-\w+ from 0 to 3", said)
    pod = get(kubectl, "pods", "-n", web)["items"][0]["metadata"]["name"]
    said = kubectl("describe", "pod", pod, "-n", web)
    assert re.search(r"Status:\s+Running", said)
    assert re.search(r"Normal\s+Scheduled\s.*Successfully assigned \S+ to node-\d", said)
    assert re.search(r"Normal\s+Started\s.*kubelet", said)
    assert re.search(r"Ready\s+True", kubectl("describe", "node", "node-1"))


def test_create(kubectl: Kubectl, namespace: str) -> None:
    assert kubectl("create", "configmap", "c", "-n", namespace, "--from-literal=a=1") == "configmap/c created\n"
    assert get(kubectl, "configmap", "c", "-n", namespace)["data"] == {"a": "1"}
    kubectl("create", "secret", "generic", "s", "-n", namespace, "--from-literal=p=q")
    assert get(kubectl, "secret", "s", "-n", namespace)["data"] == {"p": "cQ=="}
    assert kubectl("create", "serviceaccount", "robot", "-n", namespace) == "serviceaccount/robot created\n"
    assert kubectl("create", "token", "robot", "-n", namespace).count(".") == 2
    again = kubectl.run("create", "configmap", "c", "-n", namespace)
    assert again.returncode == 1
    assert again.stderr == 'error: failed to create configmap: configmaps "c" already exists\n'


def test_apply_is_quiet_when_nothing_changes(kubectl: Kubectl, web: str) -> None:
    before = get(kubectl, "deployment", "web", "-n", web)
    assert kubectl("apply", "-n", web, "-f", "-", stdin=DEPLOYMENT) == "deployment.apps/web unchanged\n"
    after = get(kubectl, "deployment", "web", "-n", web)
    assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
    changed = DEPLOYMENT.replace("replicas: 3", "replicas: 2")
    assert kubectl("apply", "-n", web, "-f", "-", stdin=changed) == "deployment.apps/web configured\n"
    assert get(kubectl, "deployment", "web", "-n", web)["spec"]["replicas"] == 2


def test_server_side_apply(kubectl: Kubectl, namespace: str) -> None:
    said = kubectl("apply", "--server-side", "-n", namespace, "-f", "-", stdin=DEPLOYMENT)
    assert said == "deployment.apps/web serverside-applied\n"
    managers = get(kubectl, "deployment", "web", "-n", namespace, "--show-managed-fields")["metadata"]["managedFields"]
    assert ("kubectl", "Apply") in {(entry["manager"], entry["operation"]) for entry in managers}


def test_diff(kubectl: Kubectl, web: str) -> None:
    assert kubectl.run("diff", "-n", web, "-f", "-", stdin=DEPLOYMENT).returncode == 0
    done = kubectl.run("diff", "-n", web, "-f", "-", stdin=DEPLOYMENT.replace("demo:v1", "demo:v2"))
    assert done.returncode == 1
    assert "-      - image: demo:v1" in done.stdout.replace("       - ", "      - ") or "demo:v1" in done.stdout
    assert "demo:v2" in done.stdout


def test_edit(kubectl: Kubectl, namespace: str, tmp_path: Path) -> None:
    kubectl("create", "configmap", "c", "-n", namespace, "--from-literal=a=1")
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i \'s/a: "1"/a: "2"/\' "$1"\n')
    editor.chmod(0o755)
    done = subprocess.run(
        ["kubectl", "edit", "configmap", "c", "-n", namespace],
        env={**kubectl.environment, "KUBE_EDITOR": str(editor)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "configmap/c edited\n", done.stderr
    assert get(kubectl, "configmap", "c", "-n", namespace)["data"] == {"a": "2"}


def test_label_annotate_and_patch(kubectl: Kubectl, web: str) -> None:
    assert kubectl("label", "deployment", "web", "-n", web, "tier=front") == "deployment.apps/web labeled\n"
    assert kubectl("get", "deployment", "-n", web, "-l", "tier=front", "-o", "name") == "deployment.apps/web\n"
    assert "error" in kubectl.run("label", "deployment", "web", "-n", web, "tier=back").stderr
    assert kubectl("annotate", "deployment", "web", "-n", web, "why=test") == "deployment.apps/web annotated\n"
    assert kubectl("patch", "deployment", "web", "-n", web, "-p", '{"spec":{"replicas":1}}') == "deployment.apps/web patched\n"
    assert kubectl("label", "deployment", "web", "-n", web, "tier-") == "deployment.apps/web unlabeled\n"


def test_scale(kubectl: Kubectl, web: str) -> None:
    assert kubectl("scale", "deployment/web", "-n", web, "--replicas=5") == "deployment.apps/web scaled\n"
    kubectl("rollout", "status", "-n", web, "deployment/web", "--timeout=30s")
    assert kubectl("get", "deployment", "web", "-n", web, "-o", "jsonpath={.status.readyReplicas}") == "5"


def test_rollouts(kubectl: Kubectl, web: str) -> None:
    def status() -> str:
        return kubectl("rollout", "status", "-n", web, "deployment/web", "--timeout=60s")

    assert kubectl("set", "image", "deployment/web", "app=demo:v2", "-n", web) == "deployment.apps/web image updated\n"
    assert "successfully rolled out" in status()
    assert {pod["spec"]["containers"][0]["image"] for pod in alive(kubectl, web)} == {"demo:v2"}
    assert [line.split()[0] for line in kubectl("rollout", "history", "-n", web, "deployment/web").splitlines()[2:4]] == [
        "1",
        "2",
    ]
    assert kubectl("rollout", "undo", "-n", web, "deployment/web") == "deployment.apps/web rolled back\n"
    status()
    assert {pod["spec"]["containers"][0]["image"] for pod in alive(kubectl, web)} == {"demo:v1"}
    assert [line.split()[0] for line in kubectl("rollout", "history", "-n", web, "deployment/web").splitlines()[2:4]] == [
        "2",
        "3",
    ]
    assert kubectl("rollout", "pause", "-n", web, "deployment/web") == "deployment.apps/web paused\n"
    kubectl("set", "image", "deployment/web", "app=demo:v3", "-n", web)
    time.sleep(0.5)
    assert {pod["spec"]["containers"][0]["image"] for pod in alive(kubectl, web)} == {"demo:v1"}
    assert kubectl("rollout", "resume", "-n", web, "deployment/web") == "deployment.apps/web resumed\n"
    status()
    assert {pod["spec"]["containers"][0]["image"] for pod in alive(kubectl, web)} == {"demo:v3"}
    names = {pod["metadata"]["name"] for pod in alive(kubectl, web)}
    assert kubectl("rollout", "restart", "-n", web, "deployment/web") == "deployment.apps/web restarted\n"
    status()
    eventually(lambda: not names & {pod["metadata"]["name"] for pod in alive(kubectl, web)})


def alive(kubectl: Kubectl, namespace: str) -> list[dict[str, Any]]:
    pods = get(kubectl, "pods", "-n", namespace)["items"]
    return [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]


def test_logs_exec_and_cp(kubectl: Kubectl, web: str, tmp_path: Path) -> None:
    pod = alive(kubectl, web)[0]["metadata"]["name"]
    assert kubectl("logs", pod, "-n", web) == f"hello from {pod}\n"
    assert re.fullmatch(rf"\d{{4}}-\S+Z hello from {pod}\n", kubectl("logs", pod, "-n", web, "--timestamps", "--tail=1"))
    assert kubectl("exec", pod, "-n", web, "--", "echo", "inside") == "inside\n"
    assert kubectl("exec", "-i", pod, "-n", web, "--", "cat", stdin="passed on") == "passed on"
    failed = kubectl.run("exec", pod, "-n", web, "--", "sh", "-c", "exit 7")
    assert failed.returncode == 7
    (tmp_path / "file").write_text("copied")
    kubectl("cp", str(tmp_path / "file"), f"{web}/{pod}:/tmp/{pod}.copy")
    assert kubectl("exec", pod, "-n", web, "--", "cat", f"/tmp/{pod}.copy") == "copied"
    kubectl("cp", f"{web}/{pod}:/tmp/{pod}.copy", str(tmp_path / "back"))
    assert (tmp_path / "back").read_text() == "copied"
    kubectl("exec", pod, "-n", web, "--", "rm", f"/tmp/{pod}.copy")


def test_delete_and_wait(kubectl: Kubectl, web: str) -> None:
    pods = [pod["metadata"]["name"] for pod in alive(kubectl, web)]
    assert kubectl("wait", "-n", web, "deployment/web", "--for=condition=Available", "--timeout=10s").endswith("condition met\n")
    assert kubectl("wait", "-n", web, f"pod/{pods[0]}", "--for=condition=Ready") == f"pod/{pods[0]} condition met\n"
    assert kubectl("delete", "deployment", "web", "-n", web).startswith('deployment.apps "web" deleted')
    kubectl("wait", "-n", web, "--for=delete", *(f"pod/{name}" for name in pods), "--timeout=30s")
    assert kubectl.run("get", "pods,replicasets", "-n", web).stderr == f"No resources found in {web} namespace.\n"


def test_events(kubectl: Kubectl, web: str) -> None:
    said = kubectl("events", "-n", web, "--for", "deployment/web")
    assert re.search(r"Normal\s+ScalingReplicaSet\s+Deployment/web\s+Scaled up replica set web-\w+ from 0 to 3", said)
    assert "Successfully assigned" in kubectl("get", "events", "-n", web)


def test_a_missing_object_is_said_so(kubectl: Kubectl, namespace: str) -> None:
    done = kubectl.run("get", "deployment", "none", "-n", namespace)
    assert (done.returncode, done.stderr) == (1, 'Error from server (NotFound): deployments.apps "none" not found\n')


def test_the_old_schemas_explain_and_validate_too(kubectl: Kubectl, namespace: str) -> None:
    """kubectl gets /openapi/v2 as protobuf: for lists, for kinds that it does not find, and for the old form of explain."""
    said = kubectl("explain", "deployment.spec.strategy", "--output=plaintext-openapiv2")
    assert re.search(r"rollingUpdate\s+<Object>\s+Rolling update config params", said)
    member = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "in-a-list"}}
    both = {"apiVersion": "v1", "kind": "List", "items": [member]}
    assert kubectl("apply", "-n", namespace, "-f", "-", stdin=json.dumps(both)) == "configmap/in-a-list created\n"
    done = kubectl.run("apply", "-n", namespace, "-f", "-", stdin=json.dumps({**both, "items": [{**member, "dater": {}}]}))
    assert 'unknown field "dater"' in done.stderr
