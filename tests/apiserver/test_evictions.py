"""Which evictions are understood, and which are turned away before a pod is looked for."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import Api

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
PODS = "/api/v1/namespaces/d/pods"
NAME = "name in URL does not match name in Eviction object"
NAMESPACE = "the namespace of the provided object does not match the namespace sent on the request"


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({}, 201, None),
        ({"apiVersion": "policy/v1beta1"}, 201, None),
        ({"metadata": {}}, 400, NAME),
        ({"metadata": {"name": "p", "namespace": "other"}}, 400, NAMESPACE),
        ({"deleteOptions": {"dryRun": ["All"]}}, 201, None),
        (
            {"deleteOptions": {"dryRun": ["x"]}},
            500,
            "Non-matching dry-run options in request and content: [All] and [x]",
        ),
    ],
)
async def test_evictions(api: Api, change: dict[str, Any], code: int, message: str | None) -> None:
    await api(f"POST {PODS}", POD)
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}, **change}
    answer = await api(f"POST {PODS}/p/eviction?dryRun=All", eviction, code=code)
    assert answer.get("message") == message
