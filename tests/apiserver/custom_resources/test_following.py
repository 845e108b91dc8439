"""What is served follows the definitions, where changes were missed too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from setpoint.apiserver.custom_resources.following import CustomResources
from setpoint.storage.protocol import Lagged, Unavailable
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


@pytest.mark.parametrize("error", [Lagged("slow"), Unavailable("busy")])
async def test_a_definition_that_went_unseen_is_withdrawn(
    ask: Ask, cluster: VirtualCluster, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    await ask("POST", _CRDS, _definition())
    assert (await ask("GET", _WIDGETS))["kind"] == "WidgetList"

    async def miss(*_: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(CustomResources, "_on_change", miss)
        patched.setattr(CustomResources, "_settle", _nothing)
        await cluster._server.pipeline.store.delete(_KEY)
        await cluster.clock.advance(2)
    assert (await ask("GET", _WIDGETS))["code"] == 404
    await ask("POST", _CRDS, _definition())
    assert (await ask("GET", _WIDGETS))["kind"] == "WidgetList"


async def _nothing(*_: object) -> None:
    """Nothing to settle."""
