"""The same as a user without rights: nothing of the loop needs root."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.e2e.unprivileged import Someone

from setpoint.testing.manifests import deployment
from setpoint.testing.real import Cluster, Kubectl, eventually, processes_of

COMMAND = "echo hello from $HOSTNAME; id -u; exec sleep 1000"


@pytest.fixture(scope="module")
def cluster(unprivileged: Someone) -> Iterator[Cluster]:
    """A cluster in parts, all of which belong to that user."""
    made = unprivileged.cluster("--nodes", "2", "--split")
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def kubectl(unprivileged: Someone, cluster: Cluster) -> Kubectl:
    return unprivileged.kubectl(cluster)


@pytest.fixture(scope="module")
def mark(kubectl: Kubectl, cluster: Cluster) -> Iterator[str]:
    """A Deployment `web` of three, rolled out; its processes bear this mark."""
    mark = str(cluster.data_dir)
    said = kubectl("apply", "-f", "-", stdin=deployment(mark=mark, command=COMMAND))
    assert said == "deployment.apps/web created\n"
    settle(kubectl)
    yield mark
    for process in processes_of("MARK", mark):
        process.kill()


def settle(kubectl: Kubectl) -> None:
    said = kubectl("rollout", "status", "deployment/web", "--timeout=60s", seconds=90)
    assert 'deployment "web" successfully rolled out' in said


def pods(kubectl: Kubectl) -> list[dict[str, Any]]:
    found = json.loads(kubectl("get", "pods", "-l", "app=web", "-o", "json"))["items"]
    return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]


def pids(mark: str) -> set[int]:
    return {process.pid for process in processes_of("MARK", mark)}


def restarts(kubectl: Kubectl) -> list[int]:
    return sorted(pod["status"]["containerStatuses"][0]["restartCount"] for pod in pods(kubectl))


def test_every_part_and_process_is_that_users(cluster: Cluster, mark: str) -> None:
    assert cluster.process is not None
    uid = cluster.data_dir.stat().st_uid
    assert uid != 0 or os.geteuid() == 0
    parts = [cluster.part(name) for name in ("up", "apiserver", "node-1", "node-2")]
    assert {part.uids().real for part in [*parts, *processes_of("MARK", mark)]} == {uid}
    assert uid != 0


def test_kubectl_declares_changes_and_looks(kubectl: Kubectl, mark: str) -> None:
    manifest = deployment(mark=mark, command=COMMAND)
    assert kubectl("apply", "-f", "-", stdin=manifest) == "deployment.apps/web unchanged\n"
    assert kubectl.run("diff", "-f", "-", stdin=manifest.replace("demo:v1", "demo:v2")).returncode == 1
    assert kubectl("create", "configmap", "c", "--from-literal=a=1") == "configmap/c created\n"
    assert kubectl("label", "configmap", "c", "l=1") == "configmap/c labeled\n"
    assert kubectl("delete", "configmap", "c").startswith('configmap "c" deleted')
    assert kubectl("get", "deployment", "web").splitlines()[1].split()[:4] == ["web", "3/3", "3", "3"]
    assert "Scaled up replica set" in kubectl("describe", "deployment", "web")
    assert "Successfully assigned" in kubectl("events")
    assert "FIELD: replicas <integer>" in kubectl("explain", "deployment.spec.replicas")


def test_kubectl_rolls_out_back_and_scales(kubectl: Kubectl, mark: str) -> None:
    kubectl("set", "image", "deployment/web", "app=demo:v2")
    settle(kubectl)
    assert {pod["spec"]["containers"][0]["image"] for pod in pods(kubectl)} == {"demo:v2"}
    kubectl("rollout", "undo", "deployment/web")
    settle(kubectl)
    assert {pod["spec"]["containers"][0]["image"] for pod in pods(kubectl)} == {"demo:v1"}
    kubectl("scale", "deployment/web", "--replicas=2")
    eventually(lambda: len(processes_of("MARK", mark)) == 2, seconds=40)
    kubectl("scale", "deployment/web", "--replicas=3")
    settle(kubectl)


def test_kubectl_logs_exec_and_cp(unprivileged: Someone, kubectl: Kubectl, mark: str) -> None:
    pod = pods(kubectl)[0]["metadata"]["name"]
    uid = str(processes_of("MARK", mark)[0].uids().real)
    eventually(lambda: kubectl("logs", pod) == f"hello from {pod}\n{uid}\n")
    assert kubectl("exec", "-i", pod, "--", "cat", stdin="passed on") == "passed on"
    assert kubectl.run("exec", pod, "--", "sh", "-c", "exit 7").returncode == 7
    source, target = unprivileged.work / "source", unprivileged.work / "target"
    source.write_text("copied")
    source.chmod(0o644)
    kubectl("cp", str(source), f"{pod}:{target}")
    assert target.read_text() == "copied"


def test_a_killed_process_runs_again_within_a_second(kubectl: Kubectl, mark: str) -> None:
    eventually(lambda: len(processes_of("MARK", mark)) == 3)
    before = pids(mark)
    killed = time.monotonic()
    processes_of("MARK", mark)[0].kill()
    eventually(lambda: bool(pids(mark) - before), seconds=5, pause=0.01)
    assert time.monotonic() - killed < 1
    eventually(lambda: restarts(kubectl)[-1] == 1)


def test_without_an_api_server_pods_run_on_and_crashes_are_mended(cluster: Cluster, kubectl: Kubectl, mark: str) -> None:
    eventually(lambda: len(pids(mark)) == 3)
    had = sum(restarts(kubectl))
    cluster.stop_part("apiserver")
    before = pids(mark)
    assert len(before) == 3
    processes_of("MARK", mark)[0].kill()  # the oldest has not crashed before: no back-off
    eventually(lambda: len(pids(mark)) == 3 and len(pids(mark) & before) == 2, seconds=30)
    cluster.start_part("apiserver")
    eventually(lambda: kubectl.run("get", "--raw", "/readyz").returncode == 0, seconds=40)
    eventually(lambda: sum(restarts(kubectl)) == had + 1, seconds=40)
    kubectl("delete", "deployment", "web")
    eventually(lambda: not pids(mark), seconds=40)
