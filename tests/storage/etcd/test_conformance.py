"""The exported suite on a real etcd, of one member and of three."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from setpoint.kit.clock import Clock
from setpoint.storage.backends.etcd.store import etcd_store
from setpoint.testing.etcd import Etcd
from setpoint.testing.storage import StoreConformance, Subject


class OnEtcd(StoreConformance):
    persistent = True
    patience = 10.0  # etcd's shortest lease is two seconds
    etcd: Etcd

    def build(self, directory: Path, clock: Clock) -> Subject:
        root = hashlib.sha256(str(directory).encode()).hexdigest()[:12]
        return Subject(etcd_store(self.etcd.members(f"/registry/{root}"), clock))


class TestOneMember(OnEtcd):
    @pytest.fixture(autouse=True)
    def _etcd(self, one: Etcd) -> None:
        self.etcd = one


class TestThreeMembers(OnEtcd):
    """What waits for seconds until a lease ends is asked of one member only, unless there is time (make torture)."""

    @pytest.fixture(autouse=True)
    def _etcd(self, three: Etcd) -> None:
        self.etcd = three

    if not os.environ.get("SETPOINT_ETCD_ROUNDS"):
        test_what_has_a_time_to_live_vanishes = None  # type: ignore[assignment]  # left out here
        test_reopen = None  # type: ignore[assignment]  # left out here
