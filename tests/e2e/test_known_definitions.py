"""Definitions of others' custom resources, as they are published: those of the Dask operator, which hold pod templates whole.

Its wheel (140 kB) is downloaded, not installed: the definitions and the objects for its own tests are all that is used. Kinds of
kopf's examples are in `test_operators`.
"""

from __future__ import annotations

import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
import yaml

from setpoint.testing.real import Kubectl

WHEEL = "dask-kubernetes==2026.3.0"
INSIDE = "dask_kubernetes/operator"
KINDS = ("daskclusters", "daskworkergroups", "daskjobs", "daskautoscalers")


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the unpacked operator."""
    folder = tmp_path_factory.mktemp("dask")
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(folder), WHEEL]
    got = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    wheels = [*folder.glob("*.whl")]
    if not wheels:
        pytest.skip(f"no wheel of dask-kubernetes at hand: {got.stderr[-300:]}")
    with zipfile.ZipFile(wheels[0]) as wheel:
        wheel.extractall(folder)
    return folder / INSIDE


def test_the_definitions_of_dask_are_accepted_and_its_objects_validated(kubectl: Kubectl, dask: Path) -> None:
    definitions = dask / "deployment" / "helm" / "dask-kubernetes-operator" / "crds"
    started = time.monotonic()
    assert kubectl("create", "-f", str(definitions)).count("created") == len(KINDS)
    for kind in KINDS:
        kubectl("wait", "--for=condition=Established", f"crd/{kind}.kubernetes.dask.org", "--timeout=10s")
    assert time.monotonic() - started < 30
    samples = dask / "controller" / "tests" / "resources"
    for sample in ("simplecluster", "simplejob", "simpleworkergroup", "failedjob"):
        assert "created" in kubectl("create", "--validate=strict", "-f", str(samples / f"{sample}.yaml"))
    _explains(kubectl)
    _refuses(kubectl, yaml.safe_load((samples / "simplecluster.yaml").read_text(encoding="utf-8")))
    assert kubectl("get", "daskclusters,daskjobs", "-o", "name").count("/") == 3
    kubectl("delete", "crd", *(f"{kind}.kubernetes.dask.org" for kind in KINDS), "--timeout=60s", seconds=90)


def _explains(kubectl: Kubectl) -> None:
    said = kubectl("explain", "daskclusters.spec.worker.spec.containers.image")
    assert "<string>" in said
    assert "kubernetes.dask.org" in said


def _refuses(kubectl: Kubectl, good: dict[str, object]) -> None:
    """The same cluster, with a number of workers that is none and a field that nobody knows."""
    spec = yaml.safe_dump(good).replace("replicas: 2", "replicas: many").replace("worker:", "colour: red\n  worker:")
    bad = spec.replace("replicas: 1", "replicas: many")
    refused = kubectl.run("create", "--dry-run=server", "--validate=ignore", "-f", "-", stdin=bad)
    assert refused.returncode
    assert "must be of type integer" in refused.stderr
