from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.apiserver.conftest import Api

from setpoint.app.assembly import make_pipeline
from setpoint.kit.clock import VirtualClock
from setpoint.storage.backends.memory import memory_store


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    """Everything that a write passes, over a store in memory; the usual namespaces, and the service account of `default`."""
    clock = VirtualClock()
    store = memory_store(clock)
    await store.open()
    api = Api(make_pipeline(store, clock, address=lambda: "127.0.0.1:6443"), clock, store)
    for name in ("default", "kube-system", "kube-public"):
        await api("POST /api/v1/namespaces", {"metadata": {"name": name}})
    await api("POST /api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
    yield api
    await store.close()
