"""A cluster of another minor: clients see its kinds and versions, and what they declare runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from setpoint.testing.real import Cluster, Kubectl, eventually


@pytest.mark.parametrize("version", ["1.24", "1.38", "2.0", "v1.30", "1.30.1", ""])
def test_a_minor_that_is_not_known_is_refused_with_those_that_are(tmp_path: Path, version: str) -> None:
    command = [sys.executable, "-m", "setpoint", "up", "--data-dir", str(tmp_path / "data"), "--kubernetes-version", version]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    known = ", ".join(f"1.{minor}" for minor in range(25, 38))
    assert done.stderr == f"error: --kubernetes-version {version}: choose one of {known}\n"
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("split", [(), ("--split",)], ids=["one process", "split"])
def test_the_oldest_minor_runs_a_deployment(tmp_path: Path, split: tuple[str, ...]) -> None:
    arguments = ["--port", "0", "--nodes", "1", "--runtime", "simulated", "--kubernetes-version", "1.25", *split]
    cluster = Cluster(tmp_path / "data", arguments)
    cluster.start()
    try:
        kubectl = Kubectl(cluster.kubeconfig, tmp_path)
        version = json.loads(kubectl("get", "--raw", "/version"))
        assert (version["major"], version["minor"]) == ("1", "25")
        versions = kubectl("api-versions").splitlines()
        assert "autoscaling/v2beta2" in versions
        assert "resource.k8s.io/v1" not in versions
        kubectl("create", "deployment", "web", "--image=pause", "--replicas=2")
        eventually(lambda: kubectl("get", "deployment", "web", "-o", "jsonpath={.status.readyReplicas}") == "2")
        assert "minReadySeconds" in kubectl("explain", "deployment.spec")
        assert kubectl.run("explain", "job.spec.podReplacementPolicy").returncode != 0
    finally:
        cluster.stop()
