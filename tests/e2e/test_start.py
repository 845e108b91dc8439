"""What keeps a server from starting is one clear line on standard error and exit code 1."""

from __future__ import annotations

import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.e2e.unprivileged import Someone

from setpoint.storage.backends.sqlite_files import FILE
from setpoint.testing.real import Cluster, Kubectl, eventually

ONE = ("--nodes", "0")
SPLIT = ("--nodes", "1", "--split")
FORMS = pytest.mark.parametrize("form", [ONE, SPLIT], ids=["one process", "split"])


def refused(data_dir: Path, *arguments: str, port: str = "0", code: int = 1, user: Someone | None = None) -> str:
    """Start; the line that it ends with."""
    python = [*user.prefix, user.python] if user else [sys.executable]
    command = [*python, "-m", "setpoint", "up", "--data-dir", str(data_dir), "--port", port, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    if code == 1:
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert "ready in" not in done.stdout
    return done.stderr.strip()


@FORMS
def test_a_port_in_use(tmp_path: Path, form: tuple[str, ...]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert refused(tmp_path / "data", *form, port=port) == f"error: port {port} on 127.0.0.1 is in use"


@FORMS
def test_an_address_that_is_not_ours(tmp_path: Path, form: tuple[str, ...]) -> None:
    said = refused(tmp_path / "data", *form, "--host", "203.0.113.7", port="7001")
    assert said == "error: cannot listen on 203.0.113.7, port 7001: Cannot assign requested address"


@pytest.mark.parametrize(("port", "code"), [("70000", 1), ("-1", 1), ("abc", 2)])
def test_a_port_that_is_none(tmp_path: Path, port: str, code: int) -> None:
    assert "--port" in refused(tmp_path / "data", port=port, code=code)
    assert not (tmp_path / "data").exists()


def test_a_data_directory_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("mine")
    assert refused(tmp_path / "data", *ONE) == f"error: data directory {tmp_path / 'data'} is not a directory"
    assert (tmp_path / "data").read_text() == "mine"


@FORMS
def test_a_data_directory_of_a_newer_version(tmp_path: Path, form: tuple[str, ...]) -> None:
    store = tmp_path / "data" / "store"
    store.mkdir(parents=True)
    with sqlite3.connect(store / FILE) as connection:
        connection.execute("PRAGMA user_version=1000")
    connection.close()
    said = refused(tmp_path / "data", *form)
    assert said.startswith(
        f"error: data directory {store} was written by a newer version of setpoint (data version 1000, this one"
    )


def test_a_data_file_that_is_none(tmp_path: Path) -> None:
    store = tmp_path / "data" / "store"
    store.mkdir(parents=True)
    (store / FILE).write_bytes(b"something else" * 1000)
    assert refused(tmp_path / "data", *ONE).startswith(f"error: data file {store / FILE} is corrupted: ")
    assert (store / FILE).read_bytes() == b"something else" * 1000


@FORMS
def test_a_second_server_on_one_data_directory(
    make_cluster: Callable[..., Cluster], tmp_path: Path, form: tuple[str, ...]
) -> None:
    cluster = make_cluster(*form)
    assert cluster.process is not None
    said = refused(cluster.data_dir, *form)
    assert said == f"error: data directory {cluster.data_dir} is in use by process {cluster.process.pid}"
    (cluster.data_dir / "run" / "up.pid").unlink()  # a person tidied up: the store still knows
    assert refused(cluster.data_dir, *ONE).startswith(f"error: data directory {cluster.data_dir}")
    kubectl = Kubectl(cluster.kubeconfig, tmp_path)
    assert kubectl("create", "configmap", "c") == "configmap/c created\n"
    assert kubectl("get", "--raw", "/readyz") == "ok"


def test_a_token_file_that_is_not_there(tmp_path: Path) -> None:
    said = refused(tmp_path / "data", *ONE, "--token-auth-file", str(tmp_path / "none"))
    assert said == f"error: token file {tmp_path / 'none'}: No such file or directory"


@FORMS
def test_a_data_directory_that_cannot_be_written(unprivileged: Someone, form: tuple[str, ...]) -> None:
    closed = unprivileged.work / "closed"
    closed.mkdir(mode=0o555, exist_ok=True)
    said = refused(closed / "data", *form, user=unprivileged)
    assert said == f"error: data directory {closed / 'data'} cannot be written: Permission denied"


@pytest.mark.parametrize("sees", ["run/options.json", "run/address"], ids=["first part", "served"])
def test_a_split_cluster_ends_when_told_so_while_it_starts(tmp_path: Path, sees: str) -> None:
    data = tmp_path / "data"
    command = [sys.executable, "-m", "setpoint", "up", "--data-dir", str(data), "--port", "0", *SPLIT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        eventually((data / sees).exists, pause=0.01)
        process.terminate()
        out, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "ready in" not in out or sees == "run/address"  # once it is served it can be ready before the signal comes
