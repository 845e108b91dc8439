from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.bounds.rig import Server, open_server

from setpoint.testing.real import Cluster


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One API server for all of these tests."""
    directory: Path = tmp_path_factory.mktemp("bounds")
    cluster, _ = asyncio.run(open_server(directory, "--only", "apiserver"))
    yield cluster
    cluster.stop()


@pytest.fixture
def server(running: Cluster) -> Server:
    return Server(running)
