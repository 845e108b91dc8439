"""Webhooks for custom kinds: several versions, pruning and defaults."""

from __future__ import annotations

from typing import Any

from tests.apiserver.admission_webhooks.conftest import Api, Hooks, patching

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


async def _define(api: Api) -> None:
    spec = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string", "default": "made"}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    versions = [{"name": name, "served": True, "storage": name == "v1", "schema": schema} for name in ("v1", "v2")]
    names = {"plural": "widgets", "kind": "Widget"}
    body = {"group": "demo.test", "scope": "Namespaced", "names": names, "versions": versions}
    await api(f"POST {_CRDS}", {"metadata": {"name": "widgets.demo.test"}, "spec": body})
    for _ in range(5):
        await api.settle()


async def test_a_custom_object_is_patched_pruned_and_defaulted(api: Api, hooks: Hooks) -> None:
    rules = [{"apiGroups": ["demo.test"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["widgets"]}]
    value: dict[str, Any] = {"a": "x", "c": "unknown"}
    hooks.answers["h"] = patching({"op": "add", "path": "/spec", "value": value})
    await _define(api)
    await api.configure("mutating", "c", hooks.hook("h", rules=rules))
    body = {"apiVersion": "demo.test/v2", "kind": "Widget", "metadata": {"name": "w"}}
    made = await api("POST /apis/demo.test/v2/namespaces/default/widgets", body)
    ((_, asked),) = hooks.asked
    assert (asked["object"]["apiVersion"], asked["kind"]["version"], asked["requestKind"]["version"]) == (
        "demo.test/v1",
        "v1",
        "v2",
    )
    assert (made["apiVersion"], made["spec"]) == ("demo.test/v2", {"a": "x", "b": "made"})
