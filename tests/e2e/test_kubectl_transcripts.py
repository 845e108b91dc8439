"""Stock kubectl over every kind: what it prints is compared with transcripts, command by command."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.e2e import transcript

from setpoint.testing.real import KUBECTL, Cluster, Kubectl, eventually

TRANSCRIPTS = sorted((Path(__file__).parent / os.environ.get("SETPOINT_TRANSCRIPTS", "transcripts")).glob("*.txt"))
"""With SETPOINT_TRANSCRIPTS=transcripts-1.20 and SETPOINT_KUBECTL those of Debian's old kubectl."""


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory, new_cluster: Callable[..., Cluster]) -> Iterator[Kubectl]:
    """A cluster of one simulated node: what these commands need is the API, not processes."""
    if shutil.which(KUBECTL) is None:
        pytest.skip("kubectl is not installed")
    cluster = new_cluster(tmp_path_factory.mktemp("transcripts") / "data", "--nodes", "1", "--runtime", "simulated")
    cluster.start()
    kubectl = Kubectl(cluster.kubeconfig, tmp_path_factory.mktemp("home"))
    eventually(lambda: "node-1" in kubectl("get", "lease", "-n", "kube-node-lease", "-o", "name"))
    yield kubectl
    cluster.stop()


@pytest.mark.timeout(120)
@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_kubectl_prints_what_it_must(simulated: Kubectl, path: Path) -> None:
    found = [difference for step in transcript.read(path) if (difference := transcript.difference(step, simulated))]
    assert not found, "\n\n".join(found)


def test_there_are_as_many_commands_as_promised() -> None:
    assert sum(len(transcript.read(path)) for path in TRANSCRIPTS) >= 150
