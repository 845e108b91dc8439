"""What is secret is nowhere but where it belongs: not on the disk, not in logs, not in arguments; and files are private."""

from __future__ import annotations

import base64
import os
import secrets
import stat
import subprocess
from pathlib import Path
from typing import Any

import orjson
import psutil
import pytest
from tests.e2e.conftest import AS_SOMEONE, MakeCluster

from setpoint.client.kubeconfig import load
from setpoint.client.transports.http import ssl_context
from setpoint.testing.real import Cluster, Kubectl

pytestmark = pytest.mark.skipif(AS_SOMEONE, reason="looks into files that only the cluster's user may read")

CONFIGURATION = """
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - aesgcm:
      keys:
      - {{name: first, secret: {key}}}
  - identity: {{}}
"""
AUDIT = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"


@pytest.fixture
def guarded(tmp_path: Path, make_cluster: MakeCluster) -> tuple[Cluster, list[str]]:
    """A cluster of several processes that seals its Secrets, audits, and says everything it has to say; its own secrets."""
    key = base64.b64encode(os.urandom(32)).decode()
    token = secrets.token_hex(16)
    config, policy, tokens = tmp_path / "encryption.yaml", tmp_path / "audit.yaml", tmp_path / "tokens.csv"
    config.write_text(CONFIGURATION.format(key=key))
    policy.write_text(AUDIT)
    tokens.write_text(f"{token},somebody,1\n")
    cluster = make_cluster(
        *("--split", "--log-level", "debug", "--encryption-provider-config", str(config)),
        *("--audit-policy-file", str(policy), "--audit-log-path", str(tmp_path / "audit.log")),
        *("--token-auth-file", str(tokens)),
    )
    return cluster, [key, token]


async def test_what_is_secret_is_nowhere_else(guarded: tuple[Cluster, list[str]], tmp_path: Path) -> None:
    cluster, known = guarded
    home = tmp_path / "home"
    home.mkdir()
    kubectl = Kubectl(cluster.kubeconfig, home)
    word = f"swordfish-{secrets.token_hex(8)}"
    encoded = base64.b64encode(word.encode()).decode()
    kubectl("wait", "--for=create", "serviceaccount/default", "--timeout=20s")  # pods need it
    await _use(cluster, known[1], word)
    kubectl("wait", "pod/reader", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=40s")
    bound = kubectl("create", "token", "default").strip()
    hunted = [word, encoded, bound, *known]

    held = [file for file in cluster.data_dir.rglob("*") if file.is_file()]
    kept = [file for file in held if not _given_to_a_pod(file)]
    outputs = [*kept, cluster._log_file, tmp_path / "audit.log"]
    for file in outputs:
        content = file.read_bytes()
        for each in hunted:
            assert each.encode() not in content, f"{each} is in {file}"
    assert b"k8s:enc:aesgcm:v1:first:" in b"".join(file.read_bytes() for file in (cluster.data_dir / "store").iterdir())
    arguments = "\n".join(_arguments(cluster))
    assert "component" in arguments
    for each in hunted:
        assert each not in arguments
    for path in cluster.data_dir.rglob("*"):
        if path.is_symlink() or _of_a_pod(cluster, path):
            continue
        mode = stat.S_IMODE(path.lstat().st_mode)
        assert not mode & 0o077, f"{path} has mode {mode:o}"


def _given_to_a_pod(file: Path) -> bool:
    """What a node holds of the pods that were given a secret: its volumes, and the environments to start containers with again
    while the API server is away.
    """
    if "launch" in file.parts:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    return "volumes" in file.parts or "launch" in file.parts


def _of_a_pod(cluster: Cluster, path: Path) -> bool:
    """What containers see has the modes that pods ask for; the directory above is private."""
    parts = path.relative_to(cluster.data_dir).parts
    return len(parts) > 2 and parts[0] == "nodes"


async def _use(cluster: Cluster, token: str, word: str) -> None:
    """Send a secret in every way there is, also in those that are refused, as an administrator and as nobody in particular."""
    import aiohttp

    access = load(cluster.kubeconfig)
    url = f"{access.server}/api/v1/namespaces/default"
    data = {"key": base64.b64encode(word.encode()).decode()}
    good = {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "s"}, "data": data}
    bad: list[tuple[Any, int]] = [
        ({**good, "metadata": {"name": "Not A Name"}}, 422),
        ({**good, "data": {"a key": data["key"]}}, 422),
        ({**good, "data": {"key": f"{word} is not base64"}}, 400),
        ({**good, "data": word}, 400),
        ({**good, "type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": word}}, 422),
        (f'{{"kind": "Secret", "data": {{"key": "{word}"', 400),
    ]
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=ssl_context(access))) as session:
        for body, code in [(good, 201), *bad]:
            text = body if isinstance(body, str) else orjson.dumps(body).decode()
            async with session.post(f"{url}/secrets", data=text, headers={"Content-Type": "application/json"}) as answer:
                said = await answer.text()
                assert answer.status == code, said
                if code != 201:
                    assert word not in said
                    assert data["key"] not in said
        headers = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
        async with session.get(f"{url}/secrets", headers=headers) as answer:
            said = await answer.text()
            assert data["key"] not in said
        async with session.post(f"{url}/pods", json=_reader()) as answer:
            assert answer.status == 201, await answer.text()
    connector = aiohttp.TCPConnector(ssl=ssl_context(load(cluster.kubeconfig, "")))
    async with aiohttp.ClientSession(connector=connector) as session:
        for credential in (token, word):
            async with session.get(f"{url}/secrets/s", headers={"Authorization": f"Bearer {credential}"}) as answer:
                await answer.read()


def _reader() -> dict[str, Any]:
    """A pod with the secret in its environment and in a volume."""
    variable = {"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "s", "key": "key"}}}
    container = {
        "name": "c",
        "image": "busybox",
        "command": ["sh", "-c", 'test -n "$SECRET"'],
        "env": [variable],
        "volumeMounts": [{"name": "v", "mountPath": "/secret"}],
    }
    volumes = [{"name": "v", "secret": {"secretName": "s"}}]
    spec = {"restartPolicy": "Never", "containers": [container], "volumes": volumes}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "reader"}, "spec": spec}


def _arguments(cluster: Cluster) -> list[str]:
    assert cluster.process is not None
    parts = psutil.Process(cluster.process.pid).children(recursive=True)
    found = []
    for part in parts:
        try:
            found.append(" ".join(part.cmdline()))
        except psutil.NoSuchProcess:
            continue
    return found


def test_a_wrong_key_is_one_clear_line(tmp_path: Path, make_cluster: MakeCluster) -> None:
    config = tmp_path / "encryption.yaml"
    config.write_text(CONFIGURATION.format(key=base64.b64encode(os.urandom(32)).decode()))
    cluster = make_cluster("--nodes", "0", "--encryption-provider-config", str(config))
    home = tmp_path / "home"
    home.mkdir()
    kubectl = Kubectl(cluster.kubeconfig, home)
    kubectl("create", "secret", "generic", "s", "--from-literal=key=value")
    cluster.stop()
    command = ["setpoint", "up", "--port", "0", "--nodes", "0", "--data-dir", str(cluster.data_dir)]
    done = subprocess.run([cluster.python, "-m", *command], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode
    assert "secrets/" in done.stderr
    assert "is not in the encryption configuration" in done.stderr
    assert done.stderr.count("\n") == 1
    cluster.start()
    assert base64.b64decode(kubectl("get", "secret", "s", "-o", "jsonpath={.data.key}")) == b"value"
