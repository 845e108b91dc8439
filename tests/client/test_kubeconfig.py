from __future__ import annotations

import base64
from pathlib import Path

import pytest

from setpoint.client import kubeconfig
from setpoint.client.kubeconfig import KubeconfigError

CONFIG = {
    "current-context": "one",
    "contexts": [
        {"name": "one", "context": {"cluster": "c", "user": "u", "namespace": "ns"}},
        {"name": "two", "context": {"cluster": "c", "user": "nobody"}},
    ],
    "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:6443", "certificate-authority": "ca.crt"}}],
    "users": [
        {"name": "u", "user": {"client-certificate-data": base64.b64encode(b"CERT").decode(), "client-key": "/k", "token": "t"}}
    ],
}


def test_a_context_names_server_certificate_and_token() -> None:
    access = kubeconfig.parse(CONFIG, base=Path("/base"))
    assert (access.server, access.ca_file, access.namespace) == ("https://127.0.0.1:6443", "/base/ca.crt", "ns")
    assert (access.certificate_data, access.key_file, access.token) == ("CERT", "/k", "t")
    assert "t" not in repr(access).replace("https", "").replace("Access", "")
    with access.certificate_files() as files:
        assert files is not None
        assert Path(files[0]).read_text() == "CERT"
        assert files[1] == "/k"
    assert not Path(files[0]).exists()


@pytest.mark.parametrize("context", ["two", "three"])
def test_what_is_missing_is_named(context: str) -> None:
    with pytest.raises(KubeconfigError, match=r"no (user|context)"):
        kubeconfig.parse(CONFIG, context)


def test_files_are_read_and_broken_ones_refused(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text("clusters: [{name: c, cluster: {server: 'http://x'}}]\ncontexts: [{name: d, context: {cluster: c}}]\n")
    assert kubeconfig.load(file, "d").server == "http://x"
    file.write_text("[1, 2")
    with pytest.raises(KubeconfigError, match="cannot read"):
        kubeconfig.load(file)
    with pytest.raises(KubeconfigError, match="cannot read"):
        kubeconfig.load(tmp_path / "none")


def test_a_pod_finds_its_service_account(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret\n")
    (tmp_path / "namespace").write_text("team")
    access = kubeconfig.in_cluster({"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}, tmp_path)
    assert (access.server, access.token, access.namespace) == ("https://[fd00::1]:443", "secret", "team")
    with pytest.raises(KubeconfigError, match="this is no pod"):
        kubeconfig.in_cluster({}, tmp_path)
