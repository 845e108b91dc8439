"""What other controllers follow is taken over from their informer, some objects at a time."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from setpoint.api.types.core_v1 import CONFIGMAPS, ConfigMap
from setpoint.client.client import WatchEvent
from setpoint.client.informer import Informer
from setpoint.client.metadata import metadata_only
from setpoint.controllers.garbage_collector import monitors
from setpoint.controllers.garbage_collector.graph import Graph
from setpoint.kit.clock import VirtualClock


def made(name: str, uid: str) -> ConfigMap:
    return msgspec.convert({"metadata": {"name": name, "namespace": "n", "uid": uid, "resourceVersion": uid}}, ConfigMap)


async def test_what_changes_while_it_is_taken_over_is_as_it_is_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitors, "_YIELD_EVERY", 1)
    client: Any = None  # nothing runs
    informer = Informer(client, CONFIGMAPS, VirtualClock())
    graph = Graph()
    for name, uid in (("a", "1"), ("b", "2"), ("c", "3")):
        informer.store.put(made(name, uid))
    shared = monitors.Shared(informer, metadata_only(CONFIGMAPS), graph, lambda _: None)
    loading = asyncio.ensure_future(shared.load())
    await asyncio.sleep(0)
    assert [uid for uid in "1234" if graph.get(uid) is not None] == ["1"]
    informer.apply([WatchEvent("DELETED", made("b", "2")), WatchEvent("MODIFIED", made("c", "4"))])
    assert not shared.calm
    informer.synced.set()
    await loading
    assert [uid for uid in "1234" if graph.get(uid) is not None] == ["1", "4"]
    assert shared.synced.is_set()
