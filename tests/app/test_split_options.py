"""The parts of a cluster of several processes find the options that it was started with, whatever they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from setpoint.app.data_dir import DataDir
from setpoint.app.options import Audit, Etcd, Options, StartError, Timings
from setpoint.app.split import read_options, write_options


def test_options_go_through_a_file(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    options = Options(
        data_dir=tmp_path,
        kubeconfig=Path("somewhere/config"),
        tls_san=("a.example", "10.0.0.1"),
        audit=Audit(policy="policy.yaml", log="-"),
        etcd=Etcd(),
        timings=Timings(node_monitor_grace=1.5),
    )
    write_options(DataDir(tmp_path), options)
    assert read_options(DataDir(tmp_path)) == options


def test_without_a_cluster_there_are_none(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="has no cluster"):
        read_options(DataDir(tmp_path))
