"""Parts that die on their own: a node with all that runs on it, an agent alone, the API server."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from setpoint.testing.manifests import deployment
from setpoint.testing.real import Cluster, Kubectl, eventually, processes_of

SHORT = (
    *("--node-heartbeat-period", "0.5", "--node-monitor-period", "0.5", "--node-monitor-grace-period", "3"),
    *("--default-not-ready-toleration-seconds", "1", "--default-unreachable-toleration-seconds", "1"),
)


@pytest.fixture
def cluster(make_cluster: Callable[..., Cluster]) -> Cluster:
    return make_cluster("--split", "--nodes", "3", *SHORT)


@pytest.fixture
def kubectl(cluster: Cluster, tmp_path: Path) -> Kubectl:
    return Kubectl(cluster.kubeconfig, tmp_path)


@pytest.fixture
def mark(kubectl: Kubectl, tmp_path: Path) -> Iterator[str]:
    """A Deployment `web` of three runs, one pod a node; its processes bear this mark."""
    mark = str(tmp_path)
    kubectl("apply", "-f", "-", stdin=deployment(mark=mark))
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    yield mark
    for process in processes_of("MARK", mark):
        process.kill()


def items(kubectl: Kubectl, kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(kubectl("get", kind, "-o", "json"))["items"]
    return found


def conditions(kubectl: Kubectl, node: str) -> dict[str, str]:
    held = json.loads(kubectl("get", "node", node, "-o", "json"))["status"]["conditions"]
    return {condition["type"]: condition["status"] for condition in held}


def restarts(kubectl: Kubectl) -> list[int]:
    return [pod["status"]["containerStatuses"][0]["restartCount"] for pod in items(kubectl, "pods")]


def test_a_lost_node_and_its_return(cluster: Cluster, kubectl: Kubectl, mark: str) -> None:
    node = Counter(pod["spec"]["nodeName"] for pod in items(kubectl, "pods")).most_common(1)[0][0]
    lost = {pod["metadata"]["uid"] for pod in items(kubectl, "pods") if pod["spec"]["nodeName"] == node}
    cluster.kill_node(node)
    eventually(lambda: conditions(kubectl, node)["Ready"] == "Unknown")
    eventually(lambda: "node.kubernetes.io/unreachable" in taints(kubectl, node))

    def replaced() -> bool:
        pods = items(kubectl, "pods")
        alive = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"] and pod["status"]["phase"] == "Running"]
        marked = {pod["metadata"]["uid"] for pod in pods if "deletionTimestamp" in pod["metadata"]}
        return marked == lost and len(alive) == 3 and all(pod["spec"]["nodeName"] != node for pod in alive)

    eventually(replaced, seconds=30)
    cluster.start_part(node)
    eventually(lambda: conditions(kubectl, node)["Ready"] == "True")
    eventually(lambda: not lost & {pod["metadata"]["uid"] for pod in items(kubectl, "pods")})
    eventually(lambda: len(processes_of("MARK", mark)) == 3)
    eventually(lambda: not taints(kubectl, node))


def taints(kubectl: Kubectl, node: str) -> set[str]:
    held = json.loads(kubectl("get", "node", node, "-o", "json"))["spec"].get("taints", [])
    return {taint["key"] for taint in held}


def test_an_agent_alone_dies_and_nothing_restarts(cluster: Cluster, kubectl: Kubectl, mark: str) -> None:
    before = {process.pid for process in processes_of("MARK", mark)}
    cluster.kill_part("node-1")
    time.sleep(0.5)
    assert {process.pid for process in processes_of("MARK", mark)} == before
    cluster.start_part("node-1")
    eventually(lambda: conditions(kubectl, "node-1")["Ready"] == "True")
    time.sleep(1)
    assert {process.pid for process in processes_of("MARK", mark)} == before
    assert restarts(kubectl) == [0, 0, 0]


def test_without_an_api_server_pods_run_on_and_crashes_are_mended(cluster: Cluster, kubectl: Kubectl, mark: str) -> None:
    cluster.stop_part("apiserver")
    running = processes_of("MARK", mark)
    running[0].kill()
    eventually(lambda: len(processes_of("MARK", mark)) == 3, seconds=5)
    assert {process.pid for process in running[1:]} <= {process.pid for process in processes_of("MARK", mark)}
    cluster.start_part("apiserver")
    eventually(lambda: kubectl.run("get", "--raw", "/readyz").returncode == 0)
    eventually(lambda: sorted(restarts(kubectl)) == [0, 0, 1])
    kubectl("scale", "deployment/web", "--replicas=4")
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
