"""schemathesis on our own OpenAPI: what it makes of the published schemas never ends in an error of the server's own.

SETPOINT_FUZZ beyond 100 (`make soak`) takes every path of these groups, else a few of the core's.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from setpoint.testing.real import Cluster, Kubectl

LONG = int(os.environ.get("SETPOINT_FUZZ", "10")) > 100
GROUPS = [
    "api/v1",
    *(["apis/apps/v1", "apis/batch/v1", "apis/networking.k8s.io/v1", "apis/apiextensions.k8s.io/v1"] if LONG else []),
]
PATHS = ".*" if LONG else r"^/api/v1/namespaces/\{namespace\}/(configmaps|services)(/\{name\})?$"
TOKEN = "fuzz-token"  # of a server that lives for this test


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "tokens.csv").write_text(f'{TOKEN},fuzz,1,"system:masters"\n')
    cluster = Cluster(folder / "data", ["--port", "0", "--nodes", "0", "--token-auth-file", str(folder / "tokens.csv")])
    cluster.start()
    yield cluster
    cluster.stop()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("group", GROUPS)
def test_nothing_that_fits_the_published_schemas_makes_the_server_fail(server: Cluster, group: str, tmp_path: Path) -> None:
    kubectl = Kubectl(server.kubeconfig, tmp_path)
    url = kubectl("config", "view", "-o", "jsonpath={.clusters[0].cluster.server}")
    (tmp_path / "openapi.json").write_text(kubectl("get", "--raw", f"/openapi/v3/{group}"))
    options = {
        "--url": url,
        "--tls-verify": "false",
        "--header": f"Authorization: Bearer {TOKEN}",
        "--checks": "not_a_server_error",
        "--phases": "fuzzing",
        "--max-examples": "20" if LONG else "3",
        "--include-path-regex": PATHS,
        "--exclude-path-regex": "/watch/|/proxy|/(exec|attach|portforward|log)$",
        "--request-timeout": "5",
        "--seed": "1",
    }
    command = [str(Path(sys.executable).parent / "schemathesis"), "run", str(tmp_path / "openapi.json")]
    done = subprocess.run(
        [*command, *(word for option in options.items() for word in option)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=590,
        check=False,
    )
    assert "generated" in done.stdout, done.stdout[-3000:] + done.stderr[-3000:]
    assert "Server error" not in done.stdout, done.stdout[-6000:]
