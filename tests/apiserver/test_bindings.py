"""A Binding that is not meant for the pod of its URL, or not for the pod as it is."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import Api

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
PODS = "/api/v1/namespaces/d/pods"
NAME = "name in URL does not match name in Binding object"


@pytest.mark.parametrize(
    ("metadata", "code", "message"),
    [
        ({"name": "p"}, 201, ""),
        ({}, 400, NAME),
        ({"name": "q"}, 400, NAME),
        ({"name": "p", "uid": "u"}, 409, "Precondition failed: UID in precondition: u, UID in object meta: {uid}"),
        (
            {"name": "p", "resourceVersion": "9"},
            409,
            "Precondition failed: ResourceVersion in precondition: 9, ResourceVersion in object meta: {resourceVersion}",
        ),
    ],
)
async def test_bindings(api: Api, metadata: dict[str, Any], code: int, message: str) -> None:
    pod = await api(f"POST {PODS}", POD)
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": {"kind": "Node", "name": "n"}}
    answer = await api(f"POST {PODS}/p/binding", binding, code=code)
    assert answer.get("message", "").endswith(message.format(**pod["metadata"]))


async def test_a_binding_without_a_name(api: Api) -> None:
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {}, "target": {"kind": "Node", "name": "n"}}
    answer = await api("POST /api/v1/namespaces/d/bindings", binding, code=400)
    assert answer["message"] == "Name parameter required."
