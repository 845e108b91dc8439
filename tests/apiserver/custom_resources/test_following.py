"""What is served follows the definitions, where changes were missed too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from setpoint.storage.protocol import Event, Lagged, StoreError
from setpoint.storage.watchers import Watcher
from setpoint.testing.cluster import VirtualCluster

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_WIDGETS = "/apis/demo.test/v1/namespaces/default/widgets"
_KEY = "customresourcedefinitions.apiextensions.k8s.io/widgets.demo.test"

Ask = Callable[..., Awaitable[dict[str, Any]]]


def _definition() -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    names = {"plural": "widgets", "kind": "Widget"}
    spec = {"group": "demo.test", "scope": "Namespaced", "names": names, "versions": [version]}
    return {"metadata": {"name": "widgets.demo.test"}, "spec": spec}


async def test_a_definition_that_went_unseen_is_withdrawn(
    ask: Ask, cluster: VirtualCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    next_events = Watcher.next
    errors: list[StoreError] = []

    async def miss(watcher: Watcher) -> Sequence[Event]:
        events = await next_events(watcher)
        if errors and _KEY.startswith(watcher.prefix):
            raise errors.pop()
        return events

    monkeypatch.setattr(Watcher, "next", miss)
    await ask("POST", _CRDS, _definition())
    assert (await ask("GET", _WIDGETS))["kind"] == "WidgetList"
    errors.append(Lagged("slow"))
    await cluster._server.pipeline.store.delete(_KEY)
    await cluster.clock.advance(2)
    assert not errors
    assert (await ask("GET", _WIDGETS))["code"] == 404
    await ask("POST", _CRDS, _definition())
    assert (await ask("GET", _WIDGETS))["kind"] == "WidgetList"
