"""Secrets sealed by a key manager: a server, a plugin, and what lies on the disk."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.conftest import MakeCluster
from tests.e2e.wire import wire_of

CONFIGURATION = """
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - kms: {{apiVersion: v2, name: manager, endpoint: "unix://{socket}", timeout: 2s}}
  - identity: {{}}
"""
SECRET = b'{"metadata": {"name": "s"}, "stringData": {"a": "correct horse battery staple"}}'
ROOT = Path(__file__).parents[2]


@contextmanager
def plugin(socket: Path) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-m", "tests.storage.encryption.kms_server", str(socket)], cwd=ROOT)
    try:
        yield
    finally:
        process.kill()
        process.wait()
        socket.unlink(missing_ok=True)


def test_secrets_are_sealed_by_a_key_manager_and_can_be_read_without_it(make_cluster: MakeCluster, tmp_path: Path) -> None:
    socket, file = tmp_path / "kms.sock", tmp_path / "encryption.yaml"
    file.write_text(CONFIGURATION.format(socket=socket))
    with plugin(socket):
        cluster = make_cluster("--nodes", "0", "--encryption-provider-config", str(file))
        wire = wire_of(cluster, tmp_path)
        made = wire.request("POST /api/v1/namespaces/default/secrets", SECRET)
        assert made.status == 201
        assert wire.request("GET /readyz/kms-providers").body == b"ok"
        store = b"".join(each.read_bytes() for each in (cluster.data_dir / "store").iterdir() if each.is_file())
        assert b"k8s:enc:kms:v2:manager:" in store
        assert b"correct horse" not in store
        assert made.json["data"]["a"].encode() not in store
    assert wire.request("GET /api/v1/namespaces/default/secrets/s").status == 200
