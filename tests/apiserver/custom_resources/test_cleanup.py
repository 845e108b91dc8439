"""A definition's end, where not every version can be asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from setpoint.testing.cluster import VirtualCluster

_CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_WEBHOOK = {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://a.test/c"}}}

Ask = Callable[..., Awaitable[dict[str, Any]]]


def _version(name: str, *, served: bool, storage: bool) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {"name": name, "served": served, "storage": storage, "schema": schema}


@pytest.mark.parametrize("stays", [True, False])
async def test_objects_go_though_the_webhook_does_not_answer(ask: Ask, cluster: VirtualCluster, *, stays: bool) -> None:
    names = {"plural": "widgets", "kind": "Widget"}
    versions = [_version("v2", served=True, storage=False), _version("v1", served=True, storage=True)]
    spec = {"group": "demo.test", "scope": "Namespaced", "names": names, "versions": versions, "conversion": _WEBHOOK}
    await ask("POST", _CRD, {"metadata": {"name": "widgets.demo.test"}, "spec": {**spec, "preserveUnknownFields": False}})
    widget = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": "a"}}
    assert (await ask("POST", "/apis/demo.test/v1/namespaces/default/widgets", widget))["kind"] == "Widget"
    if not stays:
        versions[1]["served"] = False
        patch = {"spec": {"versions": versions}}
        await ask("PATCH", f"{_CRD}/widgets.demo.test", patch, **{"content-type": "application/merge-patch+json"})
    await ask("DELETE", f"{_CRD}/widgets.demo.test")
    await cluster.clock.advance(10)
    assert (await ask("GET", f"{_CRD}/widgets.demo.test"))["code"] == 404
    assert await cluster._server.pipeline.store.count("widgets.demo.test/") == 0
