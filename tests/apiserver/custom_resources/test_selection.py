"""Selectable fields are those of the version that is asked, as the definition has them now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_V1, _V2 = (f"/apis/demo.test/{version}/namespaces/default/widgets" for version in ("v1", "v2"))

Ask = Callable[..., Awaitable[dict[str, Any]]]


def _version(name: str, field: str, *, storage: bool) -> dict[str, Any]:
    spec = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    fields = [{"jsonPath": f".spec.{field}"}]
    return {"name": name, "served": True, "storage": storage, "schema": schema, "selectableFields": fields}


def _definition(*fields: str) -> dict[str, Any]:
    versions = [_version(f"v{i}", field, storage=i == 1) for i, field in enumerate(fields, 1)]
    names = {"plural": "widgets", "kind": "Widget"}
    spec = {"group": "demo.test", "scope": "Namespaced", "names": names, "versions": versions}
    return {"metadata": {"name": "widgets.demo.test"}, "spec": spec}


async def _selected(ask: Ask, path: str, selector: str) -> list[str]:
    found = await ask("GET", path, None, {"fieldSelector": [selector]})
    return [item["metadata"]["name"] for item in found["items"]]


async def _make(ask: Ask) -> None:
    for name in ("x", "y"):
        spec = {"a": f"a-{name}", "b": f"b-{name}"}
        await ask("POST", _V1, {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec})


async def test_versions_have_fields_of_their_own(ask: Ask) -> None:
    await ask("POST", _CRDS, _definition("a", "b"))
    await _make(ask)
    assert await _selected(ask, _V1, "spec.a=a-x") == ["x"]
    assert await _selected(ask, _V2, "spec.b=b-y") == ["y"]
    assert await _selected(ask, _V1, "spec.a=a-y") == ["y"]


async def test_fields_change_with_the_definition(ask: Ask) -> None:
    await ask("POST", _CRDS, _definition("a"))
    await _make(ask)
    assert await _selected(ask, _V1, "spec.a=a-x") == ["x"]
    versions = _definition("b")["spec"]["versions"]
    await ask(
        "PATCH",
        f"{_CRDS}/widgets.demo.test",
        {"spec": {"versions": versions}},
        **{"content-type": "application/merge-patch+json"},
    )
    assert await _selected(ask, _V1, "spec.b=b-y") == ["y"]
