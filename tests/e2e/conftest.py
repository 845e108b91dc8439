"""Clusters for end-to-end tests: one shared, and others made by the test."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.e2e.unprivileged import NoWay, Someone, someone
from tests.e2e.wire import Wire, wire_of

from setpoint.testing.real import Cluster, Kubectl

SLEEPER = """
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  terminationGracePeriodSeconds: 1
  containers: [{name: app, image: "demo:v1", command: [sleep, "1000"]}]
"""
MakeCluster = Callable[..., Cluster]


#: with SETPOINT_E2E_USER=unprivileged every cluster here is that of a user without rights
AS_SOMEONE = os.environ.get("SETPOINT_E2E_USER") == "unprivileged"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Clients of others leave sockets to the collector, which complains during whichever test comes next.

    What is tested here is the server, a process of its own; our own client is held to closing everything elsewhere.
    """
    for item in items:
        if "/e2e/" in item.path.as_posix():
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


@pytest.fixture(scope="session")
def new_cluster(request: pytest.FixtureRequest) -> Callable[..., Cluster]:
    """Makes a cluster, not yet started, of whoever these tests are for."""
    user: Someone | None = request.getfixturevalue("unprivileged") if AS_SOMEONE else None

    def new(folder: Path, *arguments: str) -> Cluster:
        if user is not None:
            return user.cluster(*arguments, name=f"{folder.parent.name}-{folder.name}")
        return Cluster(folder, ["--port", "0", *arguments])

    return new


@pytest.fixture
def make_cluster(tmp_path: Path, new_cluster: Callable[..., Cluster]) -> Iterator[MakeCluster]:
    """Start clusters of the test's own: `make_cluster("--nodes", "2")`."""
    made: list[Cluster] = []

    def make(*arguments: str, name: str = "data") -> Cluster:
        cluster = new_cluster(tmp_path / name, *arguments)
        made.append(cluster)
        cluster.start()
        return cluster

    yield make
    for cluster in made:
        cluster.stop()


@pytest.fixture(scope="session")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory, new_cluster: Callable[..., Cluster]) -> Iterator[Cluster]:
    """One cluster of three nodes for the tests that leave it as they found it."""
    cluster = new_cluster(tmp_path_factory.mktemp("shared") / "data", "--nodes", "3")
    cluster.start()
    yield cluster
    cluster.stop()


@pytest.fixture(scope="session")
def kubectl(shared_cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    return Kubectl(shared_cluster.kubeconfig, tmp_path_factory.mktemp("home"))


@pytest.fixture
def namespace(kubectl: Kubectl) -> Iterator[str]:
    """A namespace of the test's own."""
    name = f"t-{os.getpid()}-{time.monotonic_ns() % 10**9}"
    kubectl("create", "namespace", name)
    yield name
    with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
        kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture
def wire(shared_cluster: Cluster, tmp_path: Path) -> Wire:
    """By hand to the shared cluster, as its administrator."""
    return wire_of(shared_cluster, tmp_path)


@pytest.fixture
def pod(kubectl: Kubectl, namespace: str) -> str:
    """The path of a running pod."""
    kubectl("apply", "-n", namespace, "-f", "-", stdin=SLEEPER)
    kubectl("wait", "-n", namespace, "pod/p", "--for=condition=Ready", "--timeout=60s", seconds=90)
    return f"/api/v1/namespaces/{namespace}/pods/p"


@pytest.fixture(scope="session")
def unprivileged() -> Iterator[Someone]:
    """A user without rights; as root another one, else ourselves."""
    with contextlib.ExitStack() as stack:
        try:
            made = stack.enter_context(someone())
        except NoWay as reason:
            pytest.skip(str(reason))
        yield made
