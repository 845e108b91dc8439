from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from setpoint.testing import etcd as real
from setpoint.testing.etcd import Etcd


def _members(base: pytest.TempPathFactory, size: int) -> Iterator[Etcd]:
    if not real.ETCD:
        pytest.skip("etcd is not installed (scripts/debian_packages.sh test)")
    with real.running(base.mktemp(f"etcd-{size}"), size) as etcd:
        yield etcd


@pytest.fixture(scope="session")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Etcd]:
    yield from _members(tmp_path_factory, 1)


@pytest.fixture(scope="session")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Etcd]:
    yield from _members(tmp_path_factory, 3)


@pytest.fixture
def root(tmp_path: Path) -> str:
    return f"/registry{abs(hash(tmp_path))}"
