"""`setpoint node`: another machine joins by a token, and keeps its identity without it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from setpoint.testing.real import Cluster, Kubectl, eventually

TOKEN = "abcdef.0123456789abcdef"
SECRET = """
apiVersion: v1
kind: Secret
type: bootstrap.kubernetes.io/token
metadata: {name: bootstrap-token-abcdef, namespace: kube-system}
stringData: {token-id: abcdef, token-secret: 0123456789abcdef, usage-bootstrap-authentication: "true"}
"""


def join(cluster: Cluster, directory: Path, token: str) -> subprocess.Popen[bytes]:
    url = (cluster.data_dir / "run" / "address").read_text().strip()
    command = [sys.executable, "-m", "setpoint", "node", "--server", url, "--ca-file", str(cluster.data_dir / "pki" / "ca.crt")]
    command += ["--name", "far", "--data-dir", str(directory), *(["--token", token] if token else [])]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_a_machine_joins_runs_pods_and_comes_back(make_cluster: Callable[..., Cluster], tmp_path: Path) -> None:
    cluster = make_cluster("--nodes", "0")
    kubectl = Kubectl(cluster.kubeconfig, tmp_path)
    secret = tmp_path / "token.yaml"
    secret.write_text(SECRET)
    kubectl("apply", "-f", str(secret))
    eventually(lambda: kubectl.run("get", "clusterrolebinding", "setpoint:kubelet-bootstrap").returncode == 0, seconds=20)

    def ready() -> bool:
        return kubectl.run("get", "node", "far").stdout.split()[6:7] == ["Ready"]

    joined = join(cluster, tmp_path / "far", TOKEN)
    try:
        eventually(ready, seconds=40)
        requests = kubectl("get", "csr", "--no-headers").splitlines()
        assert sorted(line.split()[3] for line in requests) == ["system:bootstrap:abcdef", "system:node:far"]
        assert {line.split()[-1] for line in requests} == {"Approved,Issued"}
        kubectl("run", "p", "--image=demo", "--command", "--", "sh", "-c", "echo from afar; exec sleep 100")
        kubectl("wait", "pod/p", "--for=condition=Ready", "--timeout=30s")
        assert kubectl("logs", "p") == "from afar\n"
        assert kubectl("exec", "p", "--", "echo", "yes") == "yes\n"
    finally:
        joined.send_signal(signal.SIGTERM)
        joined.wait(40)
    keys = list((tmp_path / "far").rglob("*.key"))
    assert keys
    assert all(key.stat().st_mode & 0o77 == 0 for key in keys)
    again = join(cluster, tmp_path / "far", "")
    try:
        eventually(lambda: kubectl.run("exec", "p", "--", "echo", "again").stdout == "again\n", seconds=40)
        assert len(kubectl("get", "csr", "--no-headers").splitlines()) == 2
    finally:
        again.send_signal(signal.SIGTERM)
        again.wait(40)
