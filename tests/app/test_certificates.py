from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from setpoint.app import certificates
from setpoint.app.certificates import Certificates
from setpoint.app.data_dir import DataDir
from setpoint.app.options import Options

OF_A_START = ("serving", "admin", "kubelet_client", "proxy_client")


@pytest.fixture
def options(tmp_path: Path) -> Options:
    DataDir(tmp_path).prepare()
    return Options(data_dir=tmp_path, nodes=1)


def files(options: Options) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in DataDir(options.data_dir).pki.rglob("*") if path.is_file()}


def test_another_process_makes_all_that_a_first_start_needs(options: Options) -> None:
    certificates.begin(options)()
    made = files(options)
    assert {Path(name).name for name in made} >= {
        "ca.key",
        "sa.key",
        "sa.pub",
        "apiserver.crt",
        "admin.crt",
        "front-proxy-client.key",
    }
    assert all(stat.S_IMODE(Path(name).stat().st_mode) == 0o600 for name in made)
    found = Certificates(options)
    for name in OF_A_START:
        getattr(found, name)()
    for node in options.node_names:
        found.node(node)
    assert files(options) == made  # nothing was left to make


def test_a_later_start_makes_nothing(options: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    certificates.begin(options)()
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("a process for nothing"))
    certificates.begin(options)()


def test_what_cannot_be_made_beside_is_made_when_asked_for(options: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Certificates, "make", lambda _: 1 / 0)
    certificates.begin(options)()
    assert Certificates(options).admin().certificate.exists()
