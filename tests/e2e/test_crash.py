"""SIGKILL of everything at once: what was acknowledged is there, what runs is adopted, nothing is doubled."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from setpoint.testing.manifests import deployment
from setpoint.testing.real import Cluster, Kubectl, eventually, processes_of


@pytest.mark.parametrize("form", [("--nodes", "2"), ("--nodes", "2", "--split")], ids=["one process", "split"])
def test_everything_killed_and_started_again(make_cluster: Callable[..., Cluster], tmp_path: Path, form: tuple[str, ...]) -> None:
    cluster = make_cluster(*form)
    kubectl = Kubectl(cluster.kubeconfig, tmp_path)
    mark = str(tmp_path)
    kubectl("apply", "-f", "-", stdin=deployment(mark=mark))
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    acknowledged = [f"c{number}" for number in range(20)]
    for name in acknowledged:
        kubectl("create", "configmap", name)
    before = {process.pid for process in processes_of("MARK", mark)}
    assert len(before) == 3
    pods = {pod["metadata"]["uid"] for pod in json.loads(kubectl("get", "pods", "-o", "json"))["items"]}

    cluster.kill_all()
    assert {process.pid for process in processes_of("MARK", mark)} == before
    cluster.start()

    assert set(kubectl("get", "configmaps", "-o", "name").split()) >= {f"configmap/{name}" for name in acknowledged}
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    held = json.loads(kubectl("get", "pods", "-o", "json"))["items"]
    assert {pod["metadata"]["uid"] for pod in held} == pods
    assert {pod["status"]["containerStatuses"][0]["restartCount"] for pod in held} == {0}
    assert {process.pid for process in processes_of("MARK", mark)} == before
    kubectl("delete", "deployment", "web")
    eventually(lambda: not processes_of("MARK", mark))


def test_an_orderly_stop_leaves_no_process_and_a_start_brings_them_back(
    make_cluster: Callable[..., Cluster], tmp_path: Path
) -> None:
    cluster = make_cluster()
    kubectl = Kubectl(cluster.kubeconfig, tmp_path)
    mark = str(tmp_path)
    kubectl("apply", "-f", "-", stdin=deployment(mark=mark))
    eventually(lambda: len(processes_of("MARK", mark)) == 3)
    cluster.stop()
    assert processes_of("MARK", mark) == []
    cluster.start()
    eventually(lambda: len(processes_of("MARK", mark)) == 3)
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
