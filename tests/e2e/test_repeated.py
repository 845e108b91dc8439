"""The same manifest a hundred times, and what does not belong there, from outside."""

from __future__ import annotations

import json
from typing import Any

from setpoint.testing.manifests import deployment
from setpoint.testing.real import Kubectl, eventually, processes_of


def get(kubectl: Kubectl, *arguments: str) -> Any:
    return json.loads(kubectl("get", *arguments, "-o", "json"))


def rolled_out(kubectl: Kubectl, namespace: str) -> Any:
    """The Deployment once it is at rest: the controller has said all it has to say."""
    kubectl("rollout", "status", "-n", namespace, "deployment/web", "--timeout=60s", seconds=90)

    def at_rest() -> bool:
        held = get(kubectl, "deployment", "web", "-n", namespace)
        reasons = {condition["type"]: condition["reason"] for condition in held["status"]["conditions"]}
        return bool(reasons["Progressing"] == "NewReplicaSetAvailable" and held["status"]["availableReplicas"] == 3)

    eventually(at_rest)
    return get(kubectl, "deployment", "web", "-n", namespace)


def test_the_same_manifest_applied_a_hundred_times(kubectl: Kubectl, namespace: str) -> None:
    manifest = deployment(mark=namespace)
    assert kubectl("apply", "-n", namespace, "-f", "-", stdin=manifest) == "deployment.apps/web created\n"
    before = rolled_out(kubectl, namespace)
    running = {process.pid for process in processes_of("MARK", namespace)}
    hundred = "---".join([manifest] * 100)
    said = kubectl("apply", "-n", namespace, "-f", "-", stdin=hundred, seconds=120)
    assert said.splitlines() == ["deployment.apps/web unchanged"] * 100
    assert get(kubectl, "deployment", "web", "-n", namespace) == before
    kubectl("apply", "--server-side", "--force-conflicts", "-n", namespace, "-f", "-", stdin=manifest)
    once = get(kubectl, "deployment", "web", "-n", namespace)  # kubectl moved its annotation, which is a change
    said = kubectl("apply", "--server-side", "-n", namespace, "-f", "-", stdin="---".join([manifest] * 20), seconds=120)
    assert said.splitlines() == ["deployment.apps/web serverside-applied"] * 20
    after = get(kubectl, "deployment", "web", "-n", namespace)
    assert (after["metadata"], after["spec"]) == (once["metadata"], once["spec"])
    assert after["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "1"
    assert len(get(kubectl, "replicasets", "-n", namespace)["items"]) == 1
    assert len(get(kubectl, "pods", "-n", namespace)["items"]) == 3
    assert {process.pid for process in processes_of("MARK", namespace)} == running


def test_spec_through_status_and_status_through_the_object_change_nothing(kubectl: Kubectl, namespace: str) -> None:
    kubectl("apply", "-n", namespace, "-f", "-", stdin=deployment())
    before = rolled_out(kubectl, namespace)
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments/web"
    patch = ("patch", "deployment", "web", "-n", namespace, "--type=merge")
    kubectl(*patch, "--subresource=status", "-p", '{"spec":{"replicas":9},"metadata":{"labels":{"l":"1"}}}')
    kubectl(*patch, "-p", '{"status":{"replicas":9,"readyReplicas":9}}')
    changed = {**before, "status": {"replicas": 9}}
    kubectl("replace", "--raw", path, "-f", "-", stdin=json.dumps(changed))
    changed = {**before, "spec": {**before["spec"], "replicas": 9}}
    kubectl("replace", "--raw", f"{path}/status", "-f", "-", stdin=json.dumps(changed))
    assert get(kubectl, "deployment", "web", "-n", namespace) == before
